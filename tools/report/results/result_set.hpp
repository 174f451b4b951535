// Results of a batch, read from its folder for a report: every trial with its configuration, outcome and measures, under
// uniform names.
//
// Names of measures:
//   SPS, sampling_sps            env steps per second without the warm-up iteration (number 0, else the attempt's first);
//                                the second counts only sampling time
//   wall_s, minutes              of the trial's loop over its attempts, without start and stop; the same in minutes
//   measured_s                   time after the warm-up, over which speeds are measured
//   precision/wanted_pct, _reached_pct, _iterations, _seconds, _missed
//                                of a trial that ran until its speed was precise (record/reached_precision.hpp); missed:
//                                1 or 0
//   attempt_s                    from the start of the process to its end
//   cpu_s                        CPU time of the last attempt's process, with start and stop
//   iterations, env_steps, episodes, seconds_per_episode, steps_per_episode
//   iteration_s                  seconds of an iteration without its evaluation: mean over the last tenth
//   return, ep/NAME              mean over the last episodes of training
//   eval/return, eval/NAME, floor_zero/..., floor_uniform/...
//   train/NAME and all other recorded metrics: mean over the last tenth of the iterations, at least one. If one of the last
//                                tenth (at least 3) is not finite: mean of its finite ones; NaN if none is. Absent if no
//                                iteration was finite. Names with "peak", such as device/peak_mb: maximum of all iterations
//   phase/NAME                   share of (threads x time) in percent, the closed set of phases
//   time/GROUP_pct, _s           the same per group of phases, and seconds of all threads; GROUP: environment,
//                                action_selection, update, transfer, evaluation, other, idle, waiting_for_a_core, unnamed
//                                (time of the main thread outside any phase)
//   time/unnamed_control_pct     the same, as a share of the main thread's time
//   time/GROUP_cpu_pct           CPU time as a share of those seconds (trial/phase_meter.hpp)
//   time/GROUP_gpu_pct           GPU utilisation while the main thread was in the group
//   resources/NAME               columns of resources.csv: mean, sd, p95 and max over the samples after the first iteration,
//                                else over all. Samples are weighted by their duration. No interval, because
//                                consecutive samples are not independent
//   rss_peak_mb, vram_peak_mb    maximum of all available sources
//   threads, learner_threads, balance, monitor_cpu_pct; chunk_rows of one call
//   steps_to(METRIC, VALUE), reached(METRIC, VALUE)
//                                of budget.until, and of every goal that a report uses (results/steps_to.hpp)
//   CURVE@HOW                    one number of a curve (results/reduction.hpp), if a report uses it
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/batch_record.hpp"
#include "record/budget_cut.hpp"
#include "record/measurements.hpp"
#include "record/plan_line.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"
#include "record/study.hpp"
#include "results/point_config.hpp"
#include "text/number.hpp"

namespace backplane {

struct CurvePoint {
  uint64_t iteration = 0;
  double env_steps = 0, time_s = 0, value = 0;  // time since the trial's loop began
  bool warms_up = false;                        // number 0, or the first iteration of an attempt
};

// The number of finite values among a measure's last ones. Only exists if some are not finite.
struct FiniteShare {
  uint64_t finite = 0, last = 0;
  bool ever = false;  // whether any value of the trial is finite
};

struct TrialData {
  std::filesystem::path out;  // the folder, as named by the user
  std::string trial_id, point_id;
  std::string point;       // its name, as it can be typed; empty: the only point of its experiment
  std::string label = {};  // a shorter name for reports, if there is one
  uint64_t seed = 0;
  bool confirms = false;                                       // with a seed that the search did not see
  std::string reason = {};                                     // the file's `why:` of the point
  std::vector<std::pair<std::string, nlohmann::json>> values;  // path -> value, all swept and staged paths in file order
  nlohmann::json config;                     // complete, as in trial.json; for unstarted trials, derived from config.yaml
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the plugin or data file named there
  TrialState state = TrialState::kPlanned;
  std::optional<Outcome> outcome;
  std::string why;
  bool resumed = false;                 // the last attempt resumed from a checkpoint
  double ended = 0;                     // end of the last attempt, seconds since 1970; 0: none ended
  std::vector<int> cores;               // granted to the last attempt
  size_t gpus = 0;                      // number of granted GPUs
  std::optional<uint64_t> cut_at = {};  // the last iteration within the budget, if the trial has later ones
  std::vector<std::string> facts;       // choices of plugins: "learner.x update_path fused"
  std::vector<Shrink> shrinks;          // of all attempts, as recorded by the last one
  std::map<std::string, Number> measures;
  std::map<std::string, FiniteShare> not_finite;  // measures some of whose last values are not finite
  std::optional<ReturnRange> return_range;
  std::map<std::string, RegisteredMeasure> registered;    // registered by plugins, by name
  std::map<std::string, std::vector<CurvePoint>> curves;  // SPS, return and recorded metrics, by iteration

  bool usable() const { return IsFinished(state); }
  bool IsByCommand() const { return !At("learner.command").is_null() || !At("learner.function").is_null(); }
  // Absent if it was not measured.
  const Number* Find(const std::string& measure) const;
  // The value at a path of the configuration ("rollout.num_env_runners"); null if there is none.
  nlohmann::json At(const std::string& path) const;
};

// The name of a trial's point for readers: its label or name, or the experiment's name if there is only one point.
std::string PointName(const TrialData& trial);

struct ResultSet {
  std::filesystem::path out;
  std::string experiment;
  nlohmann::json config;    // of config.yaml, as JSON: the experiment without its sweep
  std::string config_text;  // text of config.yaml
  RunInfo run;
  std::string why_ended;                                     // the last session; empty: it was killed, or it still runs
  std::vector<TrialData> trials;                             // of the current plan, in its order
  std::vector<std::pair<std::string, std::string>> dropped;  // dropped points: values, reason
  std::optional<Study> study;                                // absent: no search
};

// ReadResultSet in parts, for reading a batch while it runs: the set without trials, and one trial of its plan. Throw like it.
ResultSet ReadHeadOfSet(const std::filesystem::path& out);
TrialData ReadTrial(const ResultsFolder& folder, const PlanLine& line, const BatchConfig& batch, const BatchRecord& record,
                    CutHow how = CutHow::kIfLonger);

// Throws std::runtime_error with the file name if the folder, plan or record is missing, broken or has another version. Missing
// or broken data of one trial removes only that trial's numbers.
ResultSet ReadResultSet(const std::filesystem::path& out);

}  // namespace backplane
