#include "plugin/trial_process.hpp"

#include <chrono>
#include <stdexcept>

#include "base/run_process.hpp"
#include "base/signal_text.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

constexpr std::chrono::hours kForever{24 * 365};  // the process watches itself
constexpr size_t kShownBytes = 2000;              // of its last words

std::string LastWords(const std::string& text) {
  if (text.size() <= kShownBytes) return text;
  const size_t line = text.find('\n', text.size() - kShownBytes);
  return text.substr(line == text.npos ? text.size() - kShownBytes : line + 1);
}

}  // namespace

void RunTrialProcess(const std::filesystem::path& trial_json, const std::vector<std::string>& arguments) {
  ProcessCall call;
  call.words = {TrialProgram().string(), "run-trial", trial_json.string()};
  call.words.insert(call.words.end(), arguments.begin(), arguments.end());
  call.limit = kForever;
  const ProcessEnd end = RunProcess(call);
  if (end.ok()) return;
  if (!end.started) throw std::runtime_error("cannot start " + call.words[0] + ": " + end.err);
  std::string words = LastWords(end.err);
  while (words.ends_with('\n')) words.pop_back();
  if (!words.empty() && end.signal == 0) throw std::runtime_error(words);
  throw std::runtime_error("the trial's process ended with " +
                           (end.signal != 0 ? SignalText(end.signal) : "exit code " + std::to_string(end.code)) +
                           (words.empty() ? "" : "\n" + words));
}

}  // namespace backplane
