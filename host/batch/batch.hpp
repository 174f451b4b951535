// Runs every trial of a plan, from wherever an earlier session left it. The only writer of the results folder beside the
// trials.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/engine.hpp"
#include "batch/option_check.hpp"
#include "batch/resource_pool.hpp"
#include "record/batch_record.hpp"
#include "record/run_info.hpp"
#include "record/trial_state.hpp"
#include "sweep/plan.hpp"

namespace backplane {

struct BatchRequest {
  Plan plan;  // that of a search grows while it runs
  std::filesystem::path config_file;
  std::vector<std::string> set, sweep;  // for run.json: how the file was overridden
  std::optional<TypedArguments> arguments = {};
  std::filesystem::path out;
  bool fresh = false;          // move old results away first
  bool accept_change = false;  // run finished points again whose plugin or data files changed
  bool skip_invalid = false;   // leave out what the plugins refuse
  // What of the file names a measure that no trial will record, of those that they will, or says too little of one. Empty:
  // nobody looks.
  std::function<std::vector<FailedCheck>(const Plan&, const RecordedMeasures& recorded)> check_names;
  // Whether up (1) or down (-1) is better of what a search looks for, by those that will record it; 0: nobody says.
  std::function<int(const Plan&, const RecordedMeasures& recorded)> direction;
  bool quiet = false;  // nothing on stderr while it runs
  std::optional<std::set<std::string>>
      only_failed;                       // run failed trials again, of these classes (none named: of all), and nothing else
  bool only_pruned = false;              // let pruned trials go on to their end, and nothing else
  bool adopt_history = false;            // go on with a search that would answer otherwise today
  bool only_damaged = false;             // run finished trials whose files are damaged again, and nothing else
  std::filesystem::path program;         // backplane-trial; the shim is next to it
  std::filesystem::path report_program;  // keeps the page while it runs; empty: there is to be none
  std::string typed_program;             // as a person types it
  std::filesystem::path torch_lib;       // empty: none known
  // Where the plugins are asked before the first trial, if trials run elsewhere; absent: where they run.
  struct CheckHere {
    Engine* engine;
    ResourcePool* resource_pool;
  };
  std::optional<CheckHere> check_here = {};
  // Ends what the jobs of an earlier session still run in a cluster, before anything is concluded from what that has left; a
  // sentence of it, or nothing. Empty: nobody has any.
  std::function<std::string(const std::filesystem::path& out, const BatchRecord& record)> end_jobs = {};
};

class OutLock;

// After kObjective the same command cannot resume the batch: no trial records the objective of the search.
enum class PauseReason { kFailures = 1, kSearch, kObjective };

struct BatchReport {
  struct Trial {
    TrialState state = TrialState::kPlanned;
    std::optional<Outcome> outcome;
    std::string why;
    unsigned attempts = 0;    // in all sessions
    unsigned lost_nodes = 0;  // lost while they ran it, in this session
  };
  std::vector<Trial> trials;        // as in the plan
  std::vector<FailedCheck> checks;  // what the plugins refused before the first trial
  bool refused_file = false;        // `refused` is about the experiment file, or about what it asks for
  std::string no_engine;            // why no trial can run where they were to run, nothing was started; empty: they can
  std::string refused;              // why nothing was started; empty: something was, or nothing was left to do
  std::string paused;               // why the batch stopped before its end
  bool interrupted = false;         // by Ctrl-C, before the end
  bool while_checking = false;      // that was before the first trial, while plugins were asked
  size_t started = 0;               // attempts of this session
  std::shared_ptr<OutLock> lock;    // while it is held, `backplane stop` finds this process
  // Absent: the batch was not paused.
  std::optional<PauseReason> pause_reason;

  size_t Count(TrialState state) const;
};

// `engine` runs the trials, `resource_pool` says what there is to grant. Throws std::runtime_error if nothing could be started
// (folder in use, disk full, ...), and when its own records can not be written any more: what was recorded until then stays.
BatchReport RunBatch(BatchRequest* request, Engine* engine, ResourcePool* resource_pool);

}  // namespace backplane
