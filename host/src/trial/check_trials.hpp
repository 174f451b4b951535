// `backplane run-trial --check`: whether the plugins of trials take their options and fit together.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/trial_state.hpp"

namespace backplane {

// What came out for one trial. The supervisor reads it from the standard output of the process, a line for each; what plugins
// print there is skipped.
struct TrialCheck {
  std::string trial_id;
  Outcome outcome = Outcome::kOk;
  std::string plugin;          // whose fault
  std::string error;           // a sentence
  std::string path, place;     // the option that it names first, and where that was set; empty: none, or a default
  uint64_t rollout_steps = 0;  // env steps of an iteration, if the learner begins with a rollout; 0: not known, or not asked
  std::vector<std::string> records = {};  // of one that is ok: RecordedNames

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("checked", self.trial_id);
    visit("outcome", self.outcome);
    visit("plugin", self.plugin);
    visit("error", self.error);
    visit("path", self.path);
    visit("place", self.place);
    visit("rollout_steps", self.rollout_steps);
    visit("records", self.records);
  }
};
std::optional<TrialCheck> TrialCheckFromLine(const std::string& line);  // absent: something else

// What the process writes to standard error before it turns to a trial, and the status file that tells in whose code it
// crashed, beside the first trial.json; gone after an orderly end.
std::string CheckBegins(const std::string& trial_id);
inline constexpr char kCheckStatus[] = "check_status";

// The trial.json of a trial that one of those to be checked starts from, beside theirs: whether their states fit together is
// tried with what its learner saves before it has learned anything.
std::filesystem::path CheckedBefore(const std::filesystem::path& folder, const std::string& trial_id);

// Loads and creates everything that each of them would, one after the other, and destroys it; trains and records nothing.
// Prints a TrialCheck for each to standard output and what does not fit to standard error. Returns the first failure's exit
// code (TrialExit). Throws std::runtime_error if a file is not a trial.json.
int CheckTrials(const std::vector<std::filesystem::path>& trial_jsons, const std::atomic<bool>& cancelled);

}  // namespace backplane
