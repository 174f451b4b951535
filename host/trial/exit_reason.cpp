#include "trial/exit_reason.hpp"

#include <cstdio>
#include <new>
#include <system_error>

#include "base/bounded.hpp"
#include "base/error_words.hpp"
#include "log/log.hpp"
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
    // Memory ran out for a mapping or a thread. After other causes, another attempt may succeed.
    if (e.code() == std::errc::not_enough_memory) return {kExitHostOom, Outcome::kOom, tls_running_plugin, e.what()};
    return {kExitTemp, Outcome::kTemp, "", e.what()};
  } catch (const std::exception& e) {
    // Not caused by a plugin: a full disk, a missing folder. Another attempt from the last checkpoint may succeed.
    return {kExitTemp, Outcome::kTemp, "", WordsOf(e)};
  }
}

TrialEnd EndOf(const TrialFile& trial, const ExitReason& reason) {
  TrialEnd end;
  end.trial_id = trial.trial_id;
  end.attempt = trial.attempt;
  end.state = reason.outcome == Outcome::kPruned ? TrialState::kPruned
              : reason.exit == kExitOk           ? TrialState::kCompleted
              : reason.exit == kExitTemp         ? TrialState::kKilled
                                                 : TrialState::kFailed;
  end.outcome = reason.outcome;
  end.on_device = reason.exit == kExitGpuOom;
  if (!reason.error.empty()) end.error = Bounded(reason.error);
  end.plugin = reason.plugin;
  if (const auto& from = trial.start_from; from && from->is_kept())
    end.started_from = StartedFrom{from->source, from->sha256, from->trial_id, from->iterations, from->optimizer};
  return end;
}

int ExitWithoutResult(const ExitReason& reason, const std::exception& error, StatusWriter* status) {
  const std::string sentence = (reason.error.empty() ? "" : reason.error + "; ") + "no result was written: " + WordsOf(error);
  LogError("{}", sentence);
  status->SetLine(sentence);
  return reason.exit == kExitOk ? kExitTemp : reason.exit;
}

int ExitOf(const std::function<int()>& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stderr);  // a log message would need memory
    return kExitHostOom;
  } catch (const std::system_error& e) {
    LogError("{}", e.what());
    return kExitTemp;  // a full disk, no free descriptors: not the trial's fault
  } catch (const std::exception& e) {
    LogError("{}", WordsOf(e));
    return kExitUsage;
  }
}

}  // namespace backplane
