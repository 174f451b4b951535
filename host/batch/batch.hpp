// Runs every trial of a plan, from where an earlier session stopped. Apart from the trials, only this code writes to the
// results folder.
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

struct UnrecordedName {
  std::string name, sentence;
};

struct BatchRequest {
  Plan plan;  // grows during a search
  std::filesystem::path config_file;
  std::vector<std::string> set, sweep;  // overrides of the file, for run.json
  std::optional<TypedArguments> arguments = {};
  std::filesystem::path out;
  bool fresh = false;          // move old results away first
  bool accept_change = false;  // run finished points again whose plugin or data files changed
  bool skip_invalid = false;   // leave out points that the plugins reject
  // Finds metrics in the file that no trial will record, or whose description is incomplete. Empty: no check.
  std::function<std::vector<FailedCheck>(const Plan&, const RecordedMeasures& recorded)> check_names;
  // Finds metrics in the file that the reports of a command, by now or at its end, do not contain. Empty: no check.
  std::function<std::vector<UnrecordedName>(const Plan&, const RecordedMeasures& recorded, bool has_ended)> unrecorded;
  // Returns 1 or -1 if a higher or lower objective is better, according to the plugin that records it; 0 if unknown.
  std::function<int(const Plan&, const RecordedMeasures& recorded)> direction;
  bool quiet = false;                                // print nothing on stderr during the run
  std::optional<std::set<std::string>> only_failed;  // only run failed trials again, with these outcomes (empty set: any)
  bool only_pruned = false;                          // only resume trials that the search pruned
  bool adopt_history = false;                        // resume a search whose answers would differ today
  bool only_damaged = false;                         // only run finished trials with damaged files again
  std::string only_stage = {};                       // only run trials of this stage; empty: of all
  std::filesystem::path program;                     // backplane-trial; the shim is next to it
  std::filesystem::path report_program;              // keeps the page up to date; empty: no page
  std::string typed_program;                         // the name of the program as the user typed it
  std::filesystem::path torch_lib;                   // empty: unknown
  // Where to check the plugins before the first trial if trials run elsewhere. Absent: where the trials run.
  struct CheckHere {
    Engine* engine;
    ResourcePool* resource_pool;
  };
  std::optional<CheckHere> check_here = {};
  // Ends the jobs that an earlier session left in a cluster, before their results are read. Returns a sentence about them;
  // empty: there were none. Empty function: no cluster.
  std::function<std::string(const std::filesystem::path& out, const BatchRecord& record)> end_jobs = {};
};

class OutLock;

// After kObjective the same command cannot resume the batch: no trial records the objective of the search.
enum class PauseReason { kFailures = 1, kSearch, kObjective, kDisk };

struct BatchReport {
  struct Trial {
    TrialState state = TrialState::kPlanned;
    std::optional<Outcome> outcome;
    std::string why;
    unsigned attempts = 0;    // over all sessions
    unsigned lost_nodes = 0;  // nodes lost during the trial, in this session
  };
  std::vector<Trial> trials;        // in plan order
  std::vector<FailedCheck> checks;  // errors of the plugins before the first trial
  bool refused_file = false;        // the rejection concerns the experiment file or its requirements
  std::string no_engine;            // why the engine cannot run trials, so none was started; empty: it can
  std::string refused;              // why no trial was started; empty: trials were started, or all were finished
  std::string paused;               // why the batch stopped early
  bool interrupted = false;         // by Ctrl-C, before the end
  bool while_checking = false;      // the interrupt came before the first trial, during the check of the plugins
  size_t started = 0;               // attempts of this session
  std::shared_ptr<OutLock> lock;    // while it is held, `backplane stop` finds this process
  // Absent: the batch was not paused.
  std::optional<PauseReason> pause_reason;

  size_t Count(TrialState state) const;
};

// `engine` runs the trials, `resource_pool` grants them resources. Throws std::runtime_error if no trial could be started
// (folder in use, disk full, ...) or if the records become unwritable. Trials recorded before stay.
BatchReport RunBatch(BatchRequest* request, Engine* engine, ResourcePool* resource_pool);

}  // namespace backplane
