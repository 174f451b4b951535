// Checks before training whether a plan's plugins accept their options and whether env and learner fit together. `run-trial
// --check` creates the plugins in separate processes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/attempt.hpp"
#include "batch/engine.hpp"
#include "batch/resource_pool.hpp"
#include "record/recorded_measures.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Planning stays fast for any number of points, because only some trials are checked before the first one starts.
inline constexpr size_t kAllPoints = 64, kMostPoints = 256;

// Selects from `trials`, places in the plan. Up to kAllPoints points: the first trial of each point. With more points: at most
// kMostPoints trials, from `sweep.list` and with a new value of an axis or a new pair of env and learner.
std::vector<size_t> TrialsToCheck(const Plan& plan, const std::vector<size_t>& trials);

// Equal for trials with the same env plugin and the same learner plugin.
std::string PairOf(const Plan& plan, const PlannedTrial& trial);

struct FailedCheck {
  std::vector<size_t> trials;          // places in the plan of all affected trials
  std::string env, learner;            // plugin ids
  Outcome outcome = Outcome::kConfig;  // config, plugin, signal, nan, timeout or temp
  std::string error;                   // a sentence
  std::string plugin;                  // the culprit; empty: unknown
  std::string path, place;             // the option, and where it was set ("walk.yaml:4:20"); empty: unknown
  std::filesystem::path folder;        // contains its logs and its trial.json
  std::string cause;                   // of a crash: the error without the last output line, which may differ per point
  bool killed = false;                 // from outside, twice: not the experiment's fault, another attempt may succeed
};

struct CheckedOptions {
  std::vector<FailedCheck> failed;         // in the plan's order
  std::vector<std::string> notes = {};     // sentences: limits of a budget that are never reached
  std::vector<std::string> warnings = {};  // sentences: episodes that may not end
  // Names under which trials will record values (contract/trial_check.hpp). Absent: not every point of the plan answered.
  std::optional<RecordedMeasures> recorded = {};
  std::set<std::string> unsaved = {};  // checked learners that save no state
  std::string not_taken = {};          // why a learner rejects the state of AttemptPlace::start_from; empty: all accept it
  bool interrupted = false;            // by Ctrl-C; the rest was not checked
};

// Checks some of `trials`, places in the plan (TrialsToCheck), and equal configurations once. Configurations with the same
// plugins and resources share a process. After a crash, another process checks the rest; after a kill from outside, it checks
// all open ones again. Out of memory is no failure here, because the trials report it themselves. Failures leave logs in
// `place.out`/check. `engine` must run nothing else. Needs an InterruptScope. Throws std::runtime_error.
CheckedOptions CheckOptions(const Plan& plan, const std::vector<size_t>& trials, const AttemptPlace& place, Engine* engine,
                            ResourcePool* resource_pool);

// True if it will fail again, so its trials may be left out for good. False for a time limit, for example.
bool FitsNever(const FailedCheck& check);

}  // namespace backplane
