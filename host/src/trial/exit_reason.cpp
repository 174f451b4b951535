#include "trial/exit_reason.hpp"

#include <new>
#include <system_error>

#include "base/error_words.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/failure.hpp"
#include "rollout/instance.hpp"

namespace backplane {
namespace {

ExitReason OfStatus(bp_status status) {
  switch (status) {
    case BP_E_CONFIG:
    case BP_E_INVALID_ARG:
    case BP_E_UNSUPPORTED: return {kExitConfig, Outcome::kConfig, "", ""};
    case BP_E_OOM_DEVICE: return {kExitGpuOom, Outcome::kOom, "", ""};
    case BP_E_OOM_HOST: return {kExitHostOom, Outcome::kOom, "", ""};
    case BP_E_NUMERIC: return {kExitNan, Outcome::kNan, "", ""};
    case BP_E_TIMEOUT: return {kExitTimeout, Outcome::kTimeout, "", ""};
    case BP_E_CANCELLED: return {kExitTemp, Outcome::kKilled, "", ""};
    default: return {kExitPlugin, Outcome::kPlugin, "", ""};
  }
}

}  // namespace

ExitReason ReasonOfCurrentException() {
  try {
    throw;
  } catch (const TrialFailure& e) {
    ExitReason failed = OfStatus(e.status());
    failed.plugin = e.plugin();
    failed.error = e.what();
    return failed;
  } catch (const PluginError& e) {
    return {kExitPlugin, Outcome::kPlugin, tls_running_plugin, e.what()};
  } catch (const std::bad_alloc&) {
    ReleaseMemoryReserve();
    return {kExitHostOom, Outcome::kOom, tls_running_plugin, "out of memory"};
  } catch (const std::system_error& e) {
    // Memory ran out for a mapping or a thread. Any other cause is worth another try.
    if (e.code() == std::errc::not_enough_memory) return {kExitHostOom, Outcome::kOom, tls_running_plugin, e.what()};
    return {kExitTemp, Outcome::kTemp, "", e.what()};
  } catch (const std::exception& e) {
    // Not a plugin's: a full disk, a folder that has gone. Worth another try from the last checkpoint.
    return {kExitTemp, Outcome::kTemp, "", WordsOf(e)};
  }
}

}  // namespace backplane
