// Answers of `run-trial --check`, which creates the plugins of trials before anything is trained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/recorded_measures.hpp"
#include "record/trial_state.hpp"

namespace backplane {

// The size of an iteration, before the first one; 0: it is unknown, or was not asked for.
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

// The result of one trial. The supervisor reads a line per trial from the standard output of the process, and skips output of
// plugins.
struct TrialCheck {
  std::string trial_id;
  Outcome outcome = Outcome::kOk;
  std::string plugin;       // whose fault
  std::string error;        // a sentence
  std::string path, place;  // the first option in the error, and the place that sets it; empty: none, or a default
  IterationSize iteration = {};
  RecordedMeasures records = {};           // if ok: RecordedNames
  bool saves_state = true;                 // its learner does
  std::vector<std::string> warnings = {};  // sentences for the user, if ok
  std::string not_taken;  // why it rejects the state of StartFrom::may_be_broken_off; empty: it accepts it, or there is none

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

// The line on standard error before each trial.
std::string CheckBegins(const std::string& trial_id);
// The status file next to the first trial.json. After a crash it names the plugin; an orderly end removes it.
inline constexpr char kCheckStatus[] = "check_status";

// If a checked trial starts from another one, that trial's trial.json. The check tests with the untrained state of the other
// learner whether their states fit.
std::filesystem::path CheckedBefore(const std::filesystem::path& folder, const std::string& trial_id);

}  // namespace backplane
