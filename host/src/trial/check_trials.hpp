// `backplane run-trial --check`: whether the plugins of trials take their options and fit together.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/recorded_measures.hpp"
#include "record/trial_state.hpp"
#include "trial/contract.hpp"

namespace backplane {

// What an iteration takes, as far as it can be known before the first one; 0: it can not, or was not asked.
struct IterationSize {
  uint64_t least_steps = 0, most_steps = 0;           // env steps
  uint64_t iterations_of_epoch = 0, epoch_steps = 0;  // of a data set
  bool operator==(const IterationSize&) const = default;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("least_steps", self.least_steps);
    visit("most_steps", self.most_steps);
    visit("iterations_of_epoch", self.iterations_of_epoch);
    visit("epoch_steps", self.epoch_steps);
  }
};

// What came out for one trial. The supervisor reads it from the standard output of the process, a line for each; what plugins
// print there is skipped.
struct TrialCheck {
  std::string trial_id;
  Outcome outcome = Outcome::kOk;
  std::string plugin;       // whose fault
  std::string error;        // a sentence
  std::string path, place;  // the option that it names first, and where that was set; empty: none, or a default
  IterationSize iteration = {};
  RecordedMeasures records = {};           // of one that is ok: RecordedNames
  bool saves_state = true;                 // its learner does
  std::vector<std::string> warnings = {};  // sentences for the user, of one that is ok
  std::string not_taken;  // why it does not take the state of StartFrom::may_be_broken_off; empty: it does, or there is none

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("checked", self.trial_id);
    visit("outcome", self.outcome);
    visit("plugin", self.plugin);
    visit("error", self.error);
    visit("path", self.path);
    visit("place", self.place);
    visit("iteration", self.iteration);
    visit("records", self.records);
    visit("saves_state", self.saves_state);
    visit("warnings", self.warnings);
    visit("not_taken", self.not_taken);
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
// New plugin files are tried first (new_plugins.hpp). A trial with one that breaks a rule fails before it loads a plugin.
// Prints a TrialCheck for each to standard output and what does not fit to standard error. Returns the first failure's exit
// code (TrialExit). `folder`: where their files lie.
int CheckTrials(const std::vector<TrialSpec>& specs, const std::filesystem::path& folder, const std::atomic<bool>& cancelled);

}  // namespace backplane
