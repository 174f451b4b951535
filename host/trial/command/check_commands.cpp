#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "base/run_process.hpp"
#include "command/command_trial.hpp"
#include "command/program.hpp"
#include "contract/placeholders.hpp"
#include "log/log.hpp"
#include "trial/check_trials.hpp"

namespace backplane {
namespace {

constexpr size_t kShownAnswer = 500;  // bytes

// The script argument of an interpreter, recognized by its name. If the file exists, its path is absolute.
bool IsMissingScript(const std::string& word) {
  const std::string plain = PlainWord(word), extension = std::filesystem::path(plain).extension().string();
  std::error_code error;
  for (const char* const script : {".py", ".sh", ".R", ".jl", ".lua", ".js", ".pl", ".rb"})
    if (extension == script && plain.front() != '-') return !std::filesystem::exists(plain, error);
  return false;
}

// Python parses the file and runs no code of it. Points often share one function.
std::string WhyNoFunction(std::vector<std::string> words) {
  static std::map<std::vector<std::string>, std::string> known;
  const auto [found, fresh] = known.try_emplace(words);
  if (!fresh) return found->second;
  words.insert(words.begin() + 2, "--check");
  const ProcessEnd end = RunProcess({words});
  if (end.ok()) {
    const std::string why = end.out.substr(0, end.out.find('\n'));
    return found->second = why.empty() ? "" : "learner.function: " + why;
  }
  const std::string said = end.err.substr(0, end.err.find_last_not_of('\n') + 1);
  return found->second = fmt::format("{}: expected a Python interpreter at '{}', which {}; its last line: {}", kPythonKey,
                                     words[0], end.timed_out ? "does not answer" : "failed",
                                     Printable(said.substr(said.rfind('\n') + 1), kShownAnswer));
}

std::string WhyNoCommand(const TrialSpec& spec) try {
  const std::vector<std::string> program = CommandWords(spec, 1);
  if (spec.experiment.command.function) return WhyNoFunction(program);
  const std::vector<std::string>& words = spec.experiment.command.words;
  if (words.size() > 1 && IsMissingScript(words[1]))
    return "learner.command[1]: expected a file next to the experiment file, got none called '" + words[1] + "' in " +
           spec.experiment_dir.string();
  return "";
} catch (const std::runtime_error& e) {
  return e.what();
}

}  // namespace

int CheckCommands(const std::vector<TrialSpec>& specs) {
  TrialExit first = kExitOk;
  for (const TrialSpec& spec : specs) {
    LogError("{}", CheckBegins(spec.trial_id));
    TrialCheck check;
    check.trial_id = spec.trial_id;
    check.error = WhyNoCommand(spec);
    if (!check.error.empty()) {
      LogError("{}", check.error);
      check.outcome = Outcome::kConfig;
      check.plugin = check.path = spec.experiment.command.function ? kFunctionLearner : kCommandLearner;
      if (check.error.starts_with(kPythonKey)) check.path = kPythonKey;
      const auto place = spec.origin.find(check.path);
      if (place != spec.origin.end()) check.place = place->second;
      if (first == kExitOk) first = kExitConfig;
    }
    std::printf("\n%s\n", JsonText(ToJson(check)).c_str());
  }
  std::fflush(stdout);
  return first;
}

}  // namespace backplane
