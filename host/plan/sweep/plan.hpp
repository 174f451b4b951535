// The plan of an experiment file: its points, their trials, and every point that was dropped, with the rule that dropped
// it.
//
// Order: product of grid x zip x files x random -> list appended -> derive -> where -> equal points dropped -> x seeds. Points
// that the command line adds (grammar.hpp, PointAxis) come last. With `stages:` each of them is a chain of points, one per
// stage, and each seed of it a chain of trials; chains with equal points are equal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/loader.hpp"
#include "record/compare_terms.hpp"
#include "record/trial_result.hpp"
#include "sweep/identity.hpp"
#include "sweep/search_section.hpp"

namespace backplane {

struct PlanOptions {
  std::vector<std::string> set;    // "path=value", as for LoadExperiment
  std::vector<std::string> sweep;  // "path=1,2,4", "path=range(1,9,2)", "path=choice(a,b)", "point:path=1,2": as for ReadSweep
  PluginLookup lookup;
  PresetSearch presets = {};
  KeyDefaults defaults = {};  // where file, sweep and --set leave a key out
  ReportCheck check_report = {};
  uint64_t looks = 0;          // of a comparison, whose trials are planned; 0: all it may take
  bool without_sweep = false;  // the points alone that the file has without its `sweep:`, and no trials: no data file is read
  std::vector<uint64_t> seeds = {};  // instead of the file's seeds; empty: the file's
  int schema = kPlanSchema;          // of the results folder, whose trials keep their ids
  std::filesystem::path out = {};    // the results folder; empty: output.dir
  bool fresh = false;                // the results in the folder will be moved aside, with their copies of policies
};

struct PlannedPoint {
  std::string id;    // 16 hex digits: hash of the resolved configuration, without seed and without the content of any file
  std::string name;  // of the list entry, zip entry or file; else from the values: "num_env_runners=2 lr=0.001"; empty for a
                     // single point
  std::vector<std::pair<std::string, nlohmann::json>> values;  // of each path that the sweep names, in the file's order
  bool listed = false;                                         // an entry of `sweep.list`
  std::string stage;                    // its name, which ends `name` too; empty: the experiment has no stages
  std::optional<size_t> after;          // index of the point of the stage before
  size_t swept = 0;                     // number of values at swept paths; the stages' values follow
  std::string plain_id = {};            // as `id`, without texts of options (learner.written); empty: there are none
  std::optional<uint64_t> number = {};  // of the suggestion that came to it first; absent: it is of no search
  std::string why = {};                 // the file's reason for it
  // Cuts trials that outlived it, and extends those that did not reach it. Absent: the trials of the point have only this
  // budget.
  std::optional<Budget> budget = {};
  std::optional<Budget> schedule_budget = {};  // read by the learner's schedules instead
};

struct PlannedTrial {
  std::string id;    // 16 hex digits: hash of the point, the seed and the content of the plugin and data files
  size_t point = 0;  // index into points
  uint64_t seed = 0;
  std::map<std::string, std::string> files;  // "env.plugin", "learner.options.corpus" -> SHA-256 of the file named there
  std::optional<size_t> after;               // index of the trial, an earlier one, whose learner it starts from
  bool confirms = false;                     // with a seed that the search did not see
};

struct DroppedPoint {
  std::vector<std::pair<std::string, nlohmann::json>> values;
  std::string rule;  // "where #1", "derive learner.options.x", "same as another point"
  std::string why;   // "64 / 3 is no integer"; empty if the rule suffices
};

// The result of a suggestion.
struct Suggested {
  std::optional<size_t> point;  // index into points; absent: none, for the reason in `why`
  bool is_new = false;          // the point was not there before; its trials are the last ones
  std::string why;              // "where #1", or the error of the point's values
};

struct PlanResult;

class Plan {
 public:
  std::vector<PlannedPoint> points;
  std::vector<PlannedTrial> trials;      // in the order they should run
  std::vector<std::string> stages;       // their names in their order; empty: the experiment has none
  std::vector<std::string> stage_paths;  // every path that one of them names
  std::vector<DroppedPoint> dropped;
  size_t generated = 0;                  // points before any was dropped
  std::vector<std::string> memory_axes;  // of `sweep.memory_axes`: larger never needs less memory
  bool whole_files = false;              // `sweep.files` has whole experiment files as points
  nlohmann::json seeds;                  // {n, first, paired} of `sweep.seeds`; null: from the experiment's own seed on
  bool swept = false;                    // the file has a `sweep:` or `compare:`, or --sweep was given
  std::optional<CompareTerms> compare;   // the file has a `compare:`, and the points are its arms
  std::optional<SearchTerms> search;     // the points are suggested: there are none at first, and trials come with them
  nlohmann::json search_space;           // as sent to the search: {path: {"log_uniform": [1e-5, 1e-2]}}
  nlohmann::json search_section;         // `sweep:` as it is written
  // Of a search: points that stand for those that it may suggest, so that their plugins can be asked before the first one.
  std::shared_ptr<const Plan> probes;
  std::string metric_place;        // of compare.metric, or of `compare:` where that is left out; empty: no comparison
  std::vector<std::string> notes;  // sentences for the user that are no errors
  // The file's reasons for axes, by path.
  std::map<std::string, std::string> whys;
  int schema = kPlanSchema;
  LoadedExperiment base;  // the file without its sweep: what concerns the whole batch (output, report, on_failure, ...)

  // Both are for trials of this plan only, and for one thread at a time: copies of a plan share their resolver.
  // The experiment of one trial, resolved, its seed set. Cheap enough to call when the trial starts.
  LoadedExperiment Load(const PlannedTrial& trial) const;
  LoadedExperiment LoadPoint(size_t point) const;  // with the seed of the file
  // What `LoadPoint(point).experiment` is, with less work; until the next call.
  const Experiment& ExperimentOf(size_t point) const;
  // Where a key stands, or an entry of its list ("report.columns.1"), in the file without its sweep: "walk.yaml:12:5". Of
  // `compare:`, its metric.
  std::string PlaceOf(const std::string& path) const;
  // The id of the trial whose learner it starts from; empty: of none.
  std::string IdBefore(const PlannedTrial& trial) const { return trial.after ? trials[*trial.after].id : ""; }
  // A plan whose `probes` are set grows: the point that `params`, {path: value}, stand for, with its trials; or trials of a
  // point with seeds that the search does not see. No other copy of the plan may grow afterwards.
  Suggested Suggest(uint64_t number, const nlohmann::json& params);
  void Confirm(size_t point, uint64_t seeds);
  // The plan whose plugins can be checked before any trial: this one, or its probes.
  const Plan& Checked() const { return probes ? *probes : *this; }
  // Everything that may change a number, canonical (sorted keys): what `PlannedTrial::id` is a hash of.
  nlohmann::json Identity(const PlannedTrial& trial) const;

 private:
  friend class Planner;
  friend PlanResult MakePlan(const std::filesystem::path& file, const PlanOptions& options);
  std::shared_ptr<const class PlanMemory> memory_;
  std::shared_ptr<class Planner> planner_;  // of one that grows
};

struct PlanResult {
  std::optional<Plan> plan;        // set only if there are no errors
  std::vector<Diagnostic> errors;  // in file order
};

// Runs no plugin code and starts nothing; `lookup` is not called again after it, but while the plan of a search grows. Throws
// std::runtime_error if a plugin or data file cannot be read.
PlanResult MakePlan(const std::filesystem::path& file, const PlanOptions& options);

}  // namespace backplane
