#include "trial/new_plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/error_words.hpp"
#include "base/json_text.hpp"
#include "base/run_process.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kTries = false;  // with the thread sanitizer, a case exceeds its limit
#else
constexpr bool kTries = true;
#endif

constexpr char kName[] = "backplane-validate";
constexpr std::chrono::minutes kLimit{1};         // a hung case is killed after seconds
constexpr std::chrono::milliseconds kGrace{500};  // the supervisor waits one second
constexpr char kLeftOut[] = "skipping the quick checks of new plugin files";

bool IsOff() {
  const char* const wanted = std::getenv(kValidateVariable);
  return !kTries || (wanted != nullptr && std::string_view(wanted) == "off");
}

// Most files are known, and their lookup costs only a few system calls.
bool HasNewPlugin(const std::vector<TrialSpec>& specs, const ValidatedFiles& files) {
  std::set<std::pair<std::filesystem::path, std::string>> known;
  const auto is_new = [&](const TrialPlugin& plugin) {
    return known.emplace(plugin.file, plugin.id).second && !files.Has(plugin.file, plugin.id);
  };
  return std::ranges::any_of(specs, [&](const TrialSpec& spec) {
    return is_new(spec.env) || is_new(spec.learner) || std::ranges::any_of(spec.wrappers, is_new) ||
           std::ranges::any_of(spec.monitors, is_new);
  });
}

// Why the answer is unusable; empty: it is usable.
std::string WhyNoAnswer(const ProcessEnd& end, std::chrono::milliseconds limit) {
  if (!end.started) return fmt::format("cannot start {}: {}", kName, end.err);
  if (end.timed_out) return fmt::format("{} did not end within {:g} s", kName, static_cast<double>(limit.count()) / 1000);
  if (end.signal != 0) return fmt::format("{} was ended by: {}", kName, strsignal(end.signal));
  return end.code == 0 ? "" : fmt::format("{} ended with exit code {}", kName, end.code);
}

std::string RequestFor(const std::vector<TrialSpec>& specs) {
  nlohmann::json request = nlohmann::json::array();
  for (const TrialSpec& spec : specs) request.push_back(ToJson(spec));
  return JsonText(request);
}

}  // namespace

TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled) {
  return TryNewPlugins(specs, cancelled, {OwnProgram().parent_path() / kName, ValidatedFiles(), kLimit});
}

TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled, const PluginTrier& by) {
  if (IsOff() || !HasNewPlugin(specs, by.files)) return {};
  const auto left_out = [](const std::string& why) { return TriedPlugins{{}, fmt::format("{}: {}", kLeftOut, why)}; };
  if (!std::filesystem::exists(by.program))
    return left_out(fmt::format("{} is not in {}; {}", kName, by.program.parent_path().string(), InstallHint(kName)));
  ProcessCall call{{by.program.string(), "--fast"}};
  call.input = RequestFor(specs);
  call.limit = by.limit;
  call.grace = kGrace;
  call.cancelled = [&] { return cancelled.load(); };
  const ProcessEnd end = RunProcess(call);
  std::fputs(end.err.c_str(), stderr);
  if (end.cancelled) return {};
  if (const std::string why = WhyNoAnswer(end, by.limit); !why.empty()) return left_out(why);
  try {
    return {RecordFromJson<BrokenRulesAnswer>(nlohmann::json::parse(end.out)).broken, ""};
  } catch (const std::exception& error) {
    return left_out(fmt::format("cannot read the answer of {}: {}", kName, WordsOf(error)));
  }
}

}  // namespace backplane
