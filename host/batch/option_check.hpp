// Whether the plugins of a plan take their options, and env and learner fit together: asked of the plugins themselves before
// anything is trained, by `run-trial --check` in processes of their own.
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

// Planning stays quick with any number of points, because only some of their trials are checked before the first one starts.
inline constexpr size_t kAllPoints = 64, kMostPoints = 256;

// Selects from `trials`, places in the plan. Up to kAllPoints points: the first trial of each point. With more points: at most
// kMostPoints trials, from `sweep.list` and with a new value of an axis or a new pair of env and learner.
std::vector<size_t> TrialsToCheck(const Plan& plan, const std::vector<size_t>& trials);

// Equal for trials with the same env plugin and the same learner plugin.
std::string PairOf(const Plan& plan, const PlannedTrial& trial);

struct FailedCheck {
  std::vector<size_t> trials;          // places in the plan: all that it speaks for
  std::string env, learner;            // plugin ids
  Outcome outcome = Outcome::kConfig;  // config, plugin, signal, nan, timeout or temp
  std::string error;                   // a sentence
  std::string plugin;                  // whose fault; empty: not known
  std::string path, place;       // the option that it is about, and where that was set ("walk.yaml:4:20"); empty: not known
  std::filesystem::path folder;  // of its logs and its trial.json
  std::string cause;             // of a crash: the error without what was said last, which may be other words at each point
  bool killed = false;           // from outside, twice: no fault of the experiment, and another try may go through
};

struct CheckedOptions {
  std::vector<FailedCheck> failed;         // in the plan's order
  std::vector<std::string> notes = {};     // sentences: limits of a budget that another one ends first
  std::vector<std::string> warnings = {};  // sentences: episodes that may not end
  // Names under which trials will record values (contract/trial_check.hpp). Absent: not every point of the plan answered.
  std::optional<RecordedMeasures> recorded = {};
  std::set<std::string> unsaved = {};  // learners that save no state, of those that answered
  std::string not_taken = {};          // why a learner does not take the state of AttemptPlace::start_from; empty: all do
  bool interrupted = false;            // by Ctrl-C: the rest was not asked
};

// Asks for some of `trials`, places in the plan (TrialsToCheck); equal configurations once. Those of one pair of plugins and
// the same resources share a process; where that ends by a crash, another one asks for the rest, and where it was
// killed from outside, for all that is open. What does not fit into memory
// is no failure: the trials themselves will say so. What failed leaves its logs in `place.out`/check. Nothing else may run in
// `engine`. Needs an InterruptScope. Throws std::runtime_error.
CheckedOptions CheckOptions(const Plan& plan, const std::vector<size_t>& trials, const AttemptPlace& place, Engine* engine,
                            ResourcePool* resource_pool);

// True: it will fail again, so its trials may be left out for good. False: a time limit, say.
bool FitsNever(const FailedCheck& check);

}  // namespace backplane
