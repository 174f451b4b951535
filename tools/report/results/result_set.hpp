// Results of a batch, read from its folder for a report: every trial with its configuration, its outcome and all measures,
// under one naming.
//
// Names of measures:
//   SPS, sampling_sps            env steps per second, without the iteration that warms up (number 0, else the attempt's
//   first);
//                                collecting alone
//   wall_s, minutes              of the trial's loop with all its attempts, start and stop left out; the same in minutes
//   measured_s                   of the iterations after it: what the speeds were measured over
//   precision/wanted_pct, _reached_pct, _iterations, _seconds, _missed
//                                of a trial that went on until its speed was known well (record/reached_precision.hpp); missed:
//                                1 or 0
//   attempt_s                    from the start of the process to its end
//   cpu_s                        what all threads of the last attempt's process computed, start and stop included
//   iterations, env_steps, episodes, seconds_per_episode, steps_per_episode
//   iteration_s                  seconds of an iteration without its evaluation: mean over the last tenth
//   return, ep/NAME              mean over the last episodes of training
//   eval/return, eval/NAME, floor_zero/..., floor_uniform/...
//   train/NAME and all else that plugins recorded: mean over the last tenth of the iterations, at least one; if one of the last
//                                tenth (at least 3) is not finite, the mean of the finite ones among them; NaN if none is; no
//                                measure at all if none ever was; of a name with
//                                "peak" in it, such as device/peak_mb, the largest of all iterations
//   phase/NAME                   share of (threads x time) in percent, the closed set of phases
//   time/GROUP_pct, _s           the same in groups of phases, and seconds of all threads; GROUP: environment,
//                                action_selection, update, transfer, evaluation, other, idle, waiting_for_a_core, unnamed
//                                (what the main thread spent in no phase)
//   time/unnamed_control_pct     the same of the main thread's own time
//   time/GROUP_cpu_pct           part of those seconds in which a thread was on a processor (trial/phase_meter.hpp)
//   time/GROUP_gpu_pct           GPU utilisation while the main thread was in the group
//   resources/NAME               columns of resources.csv: mean, sd, p95 and max over the samples after the first iteration, or
//                                over all where there are no later ones; weighted by the time that a sample speaks of; without
//                                an interval, as samples that follow each other are not independent
//   rss_peak_mb, vram_peak_mb    largest of all sources that tell
//   threads, learner_threads, balance, monitor_cpu_pct; chunk_rows of one call
//   CURVE@HOW                    one number of a curve (results/reduction.hpp), where a report asks for it
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/batch_record.hpp"
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

// Counts the finite ones among the last values of a measure. It exists only if some are not.
struct FiniteShare {
  uint64_t finite = 0, last = 0;
  bool ever = false;  // whether any value of the trial is finite
};

struct TrialData {
  std::filesystem::path out;  // the folder it was read from, as it was named
  std::string trial_id, point_id;
  std::string point;       // its name, as it can be typed; empty: the only point of its experiment
  std::string label = {};  // what a report calls the point, where it has a shorter word for it
  uint64_t seed = 0;
  bool confirms = false;                                       // with a seed that the search did not see
  std::vector<std::pair<std::string, nlohmann::json>> values;  // of each path that sweep and stages name, in the file's order
  nlohmann::json config;  // complete, as in trial.json; of a trial that never started, put together from config.yaml
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the plugin or data file named there
  TrialState state = TrialState::kPlanned;
  std::optional<Outcome> outcome;
  std::string why;
  bool resumed = false;            // the last attempt went on from a checkpoint
  double ended = 0;                // seconds since 1970, of the last attempt; 0: none ended
  std::vector<int> cores;          // granted to the last attempt
  size_t gpus = 0;                 // how many were granted
  std::vector<std::string> facts;  // what plugins decided by themselves: "learner.x update_path fused"
  std::vector<Shrink> shrinks;     // of all attempts, as the last one tells them
  std::map<std::string, Number> measures;
  std::map<std::string, FiniteShare> not_finite;          // measures some of whose last values are not finite
  std::optional<ReturnRange> return_range;
  std::map<std::string, RegisteredMeasure> registered;    // what plugins said of their measures, by name
  std::map<std::string, std::vector<CurvePoint>> curves;  // SPS, return and what plugins recorded, by iteration

  bool usable() const { return IsFinished(state); }
  // Absent if it was not measured.
  const Number* Find(const std::string& measure) const;
  // The value at a path of the configuration ("rollout.num_env_runners"); null if there is none.
  nlohmann::json At(const std::string& path) const;
};

// What a person calls a trial's point: its label or name, or the experiment's where there is only one point.
std::string PointName(const TrialData& trial);

struct ResultSet {
  std::filesystem::path out;
  std::string experiment;
  nlohmann::json config;    // of config.yaml, as JSON: the experiment without its sweep
  std::string config_text;  // config.yaml as it stands there
  RunInfo run;
  std::string why_ended;                                     // the last session; empty: it was killed, or it still runs
  std::vector<TrialData> trials;                             // of the current plan, in its order
  std::vector<std::pair<std::string, std::string>> dropped;  // points that were dropped: values, why
  std::optional<Study> study;                                // absent: nothing was searched
};

// The head of a set, without its trials, and one trial of its plan, as ReadResultSet puts them together: for those who read a
// batch while it runs. They throw as it does.
ResultSet ReadHeadOfSet(const std::filesystem::path& out);
TrialData ReadTrial(const ResultsFolder& folder, const PlanLine& line, const BatchConfig& batch, const BatchRecord& record);

// Throws std::runtime_error naming the file: no results folder, another schema_version, a broken plan or record. What a single
// trial lacks or has broken costs that trial its numbers and nothing else.
ResultSet ReadResultSet(const std::filesystem::path& out);

}  // namespace backplane
