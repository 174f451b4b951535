#include <cstdio>
#include <filesystem>

#include "base/json_text.hpp"
#include "command/command_trial.hpp"
#include "command/program.hpp"
#include "contract/placeholders.hpp"
#include "log/log.hpp"
#include "trial/check_trials.hpp"

namespace backplane {
namespace {

// The script argument of an interpreter, recognized by its name. If the file exists, its path is absolute.
bool IsMissingScript(const std::string& word) {
  const std::string plain = PlainWord(word), extension = std::filesystem::path(plain).extension().string();
  std::error_code error;
  for (const char* const script : {".py", ".sh", ".R", ".jl", ".lua", ".js", ".pl", ".rb"})
    if (extension == script && plain.front() != '-') return !std::filesystem::exists(plain, error);
  return false;
}

std::string WhyNoCommand(const TrialSpec& spec) try {
  CommandWords(spec, 1);
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
      check.plugin = kCommandLearner;
      check.path = "learner.command";
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
