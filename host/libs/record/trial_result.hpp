// result.json: the end and the measures of an attempt. It has three writers: the loop writes the measures, the trial its end,
// the supervisor what only it observes of a failure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/attempt_files.hpp"
#include "record/best_score.hpp"
#include "record/data_position.hpp"
#include "record/fields.hpp"
#include "record/goal.hpp"
#include "record/long_ticks.hpp"
#include "record/reached_precision.hpp"
#include "record/spread.hpp"
#include "record/trial_state.hpp"

namespace backplane {

inline constexpr int kTrialSchema = 1;  // of trial.json, result.json and run.json

// The limits of a trial; the first one reached ends it.
struct Budget {
  std::optional<uint64_t> iterations, env_steps, episodes, epochs;
  std::optional<double> wall_time_s;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("iterations", self.iterations);
    visit("env_steps", self.env_steps);
    visit("episodes", self.episodes);
    visit("epochs", self.epochs);
    visit("wall_time_s", self.wall_time_s);
  }
  bool operator==(const Budget&) const = default;
};

// Time of a phase in seconds, summed over threads.
struct PhaseTime {
  std::string name;
  double seconds = 0, share = 0;  // share: of (threads x time)

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("seconds", self.seconds);
    visit("share", self.share);
  }
};

struct PhaseTimes {
  std::vector<PhaseTime> phases;  // phases without time may be left out
  // Time of the control thread outside any phase: as a share of all threads' time, and of its own.
  std::optional<double> unnamed_share, control_unnamed_share;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("phases", DefaultIfMissing(self.phases));
    visit("unnamed_share", self.unnamed_share);
    visit("control_unnamed_share", self.control_unnamed_share);
  }
};

// Time of a group of phases; "waiting_for_a_core" and "unnamed" have only seconds and a share.
struct GroupTime {
  double seconds = 0, share = 0;
  std::optional<double> cpu_use;                         // fraction of the seconds on a CPU; NaN: unknown
  std::optional<std::map<std::string, double>> machine;  // means of the monitors' metrics during the group

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("seconds", self.seconds);
    visit("share", self.share);
    visit("cpu_use", NaNIfNull(self.cpu_use));
    visit("machine", self.machine);
  }
};

// Bounds of an episode's return, by the env's bounds of a reward and its limit of steps.
struct ReturnRange {
  std::optional<double> low, high;  // absent: no bound

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("low", NullIfAbsent(self.low));
    visit("high", NullIfAbsent(self.high));
  }
};

// A plugin's registration of a measure.
struct RegisteredMeasure {
  std::string unit;
  int direction = 0;  // 1 up is better, -1 down, 0 neither
  std::string doc;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("unit", self.unit);
    visit("direction", self.direction);
    visit("doc", self.doc);
  }
  void AfterReading() { direction = direction > 0 ? 1 : direction < 0 ? -1 : 0; }
};

// Measures that can still grow while monitors finish.
struct MeasuredTimes {
  std::map<std::string, GroupTime> time;
  std::map<std::string, RegisteredMeasure> measures;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("time", DefaultIfMissing(self.time));
    visit("measures", DefaultIfMissing(self.measures));
  }
};

// Load balance of the runner threads, averaged over the collecting requests.
struct ThreadUse {
  double balance = 0, wall_eff = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("balance", self.balance);
    visit("wall_eff", self.wall_eff);
  }
};

// Data set of the trial.
struct DataResult {
  uint64_t items = 0;
  double epochs = 0;
  uint64_t micro_batch = 0;
  std::vector<Shrink> shrinks;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("items", self.items);
    visit("epochs", self.epochs);
    visit("micro_batch", self.micro_batch);
    visit("shrinks", self.shrinks);
  }
};

// The loop's part, written after a failure too.
struct LoopResult : PhaseTimes, MeasuredTimes, MetricsRecord {
  std::optional<uint64_t> iterations, env_steps, episodes;
  std::optional<double> wall_s, trial_s;    // of the loop; including earlier attempts
  std::optional<double> sps, sampling_sps;  // without the warm-up iteration; while collecting
  std::optional<ReachedPrecision> precision;
  std::optional<ThreadUse> rollout;
  std::optional<DataResult> data;
  std::optional<ReturnRange> return_range;
  EpisodeMeans training;  // over the last episodes
  std::optional<EpisodeMeans> evaluation, floor_zero, floor_uniform;
  std::optional<uint64_t> evaluated_at;    // iterations before the last evaluation
  std::vector<double> evaluation_returns;  // of its episodes; empty in files of older versions
  std::optional<std::string> checkpoint;
  std::optional<BestScore> best;    // of all evaluations; its policy is best.bin. The other numbers belong to the last policy
  std::optional<GoalResult> until;  // of budget.until
  std::vector<LongTicks> long_ticks;
  std::optional<Budget> budget;           // under which the attempt ran; absent in files of older versions
  std::optional<Budget> schedule_budget;  // read by the learner's schedules instead of `budget`; absent: the same

  static constexpr void Fields(auto& self, auto&& visit) {
    PhaseTimes::Fields(self, visit);
    MeasuredTimes::Fields(self, visit);
    visit("iterations", self.iterations);
    visit("env_steps", self.env_steps);
    visit("episodes", self.episodes);
    visit("wall_s", self.wall_s);
    visit("trial_s", self.trial_s);
    visit("sps", NullIfAbsent(self.sps));
    visit("sampling_sps", NullIfAbsent(self.sampling_sps));
    visit("precision", self.precision);
    visit("rollout", self.rollout);
    visit("data", self.data);
    visit("return_range", self.return_range);
    EpisodeMeans::Fields(self.training, visit);
    visit("evaluation", NullIfAbsent(self.evaluation));
    visit("floor_zero", NullIfAbsent(self.floor_zero));
    visit("floor_uniform", NullIfAbsent(self.floor_uniform));
    visit("evaluated_at", self.evaluated_at);
    visit("evaluation_returns", LeftOutIfEmpty(self.evaluation_returns));
    visit("checkpoint", NullIfAbsent(self.checkpoint));
    visit("best", self.best);
    visit("until", self.until);
    visit("long_ticks", LeftOutIfEmpty(self.long_ticks));
    visit("budget", self.budget);
    visit("schedule_budget", self.schedule_budget);
    MetricsRecord::Fields(self, visit);
  }
};

struct UsedVersions {
  std::string libtorch;

  static constexpr void Fields(auto& self, auto&& visit) { visit("libtorch", self.libtorch); }
};

struct MonitorCost {
  double cpu_s = 0, process_cpu_s = 0;  // cost of the monitors, and CPU time of the whole process

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("cpu_s", self.cpu_s);
    visit("process_cpu_s", self.process_cpu_s);
  }
};

// A monitor's decision to end the trial before its budget was used up.
struct EndedBy {
  std::string plugin, reason;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("plugin", self.plugin);
    visit("reason", self.reason);
  }
};

// The policy from which the trial started (`learner.start_from`).
struct StartedFrom {
  std::string source, sha256;  // of the learner's state or of the file
  std::string trial_id;        // empty: a file of arrays
  uint64_t iterations = 0;     // of the other trial
  bool optimizer = false;      // its state was loaded, too

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("source", self.source);
    visit("sha256", self.sha256);
    visit("trial_id", LeftOutIfEmpty(self.trial_id));
    visit("iterations", self.iterations);
    visit("optimizer", self.optimizer);
  }
};

// By plugin id, the decisions of the plugin.
using PluginFacts = std::map<std::string, std::map<std::string, nlohmann::json>>;

// The trial's part: how it ended.
struct TrialEnd {
  int schema = kTrialSchema;
  std::string trial_id;
  uint64_t attempt = 0;
  std::optional<TrialState> state;
  std::optional<Outcome> outcome;
  bool on_device = false;            // out of memory: of the device's
  std::optional<std::string> error;  // a sentence
  std::string plugin, phase;         // whose code ran last, and in which phase
  std::optional<uint64_t> threads, learner_threads;
  std::optional<uint64_t> chunk_rows;  // rows per call of act and step
  PluginFacts facts;
  std::optional<UsedVersions> versions;
  std::vector<std::string> warnings;
  std::optional<uint64_t> events_dropped;
  std::optional<MonitorCost> monitors;
  std::optional<EndedBy> ended_by;  // absent: no monitor ended it
  std::optional<StartedFrom> started_from;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema", self.schema);
    visit("trial_id", self.trial_id);
    visit("attempt", self.attempt);
    visit("state", self.state);
    visit("outcome", self.outcome);
    visit("on_device", self.on_device);
    visit("error", NullIfAbsent(self.error));
    visit("plugin", self.plugin);
    visit("phase", self.phase);
    visit("threads", self.threads);
    visit("learner_threads", self.learner_threads);
    visit("chunk_rows", self.chunk_rows);
    visit("facts", self.facts);
    visit("versions", self.versions);
    visit("warnings", self.warnings);
    visit("events_dropped", self.events_dropped);
    visit("monitors", self.monitors);
    visit("ended_by", self.ended_by);
    visit("started_from", self.started_from);
  }
};

// The supervisor's part, written if an attempt did not reach its end.
struct FailureNote {
  std::optional<uint64_t> peak_rss_bytes;
  bool hang = false;
  std::optional<std::string> signal;
  std::vector<std::string> log_tail;
  std::vector<std::string> stacks;  // after a crash or a hang: a line per thread, then an indented line per call

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("peak_rss_bytes", self.peak_rss_bytes);
    visit("hang", self.hang);
    visit("signal", NullIfAbsent(self.signal));
    visit("log_tail", self.log_tail);
    visit("stacks", LeftOutIfEmpty(self.stacks));
  }
};

// The complete file, read tolerantly because plugin code may have written to it.
struct TrialResult : LoopResult, TrialEnd, FailureNote {
  static constexpr void Fields(auto& self, auto&& visit) {
    LoopResult::Fields(self, visit);
    TrialEnd::Fields(self, visit);
    FailureNote::Fields(self, visit);
  }
};

}  // namespace backplane
