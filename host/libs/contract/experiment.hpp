// One experiment, validated and complete, with all defaults filled in. It exists as JSON (hashed, saved and sent to the trial
// process) and as this struct (for code); the two convert without loss.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "contract/checkpoint_files.hpp"
#include "contract/plain_keys.hpp"
#include "record/chunk_rows.hpp"
#include "record/goal.hpp"
#include "record/report_kinds.hpp"
#include "record/report_section.hpp"
#include "record/status_file.hpp"

namespace backplane {

struct PluginUse {
  std::string plugin;      // id without kind ("name" of "env.name"), or a path to a file
  nlohmann::json options;  // complete after resolving: one entry for each option of the plugin's table
};

// A trial by command (placeholders.hpp): a program, or a Python function, instead of a learner's plugin.
struct CommandConfig {
  std::vector<std::string> words;          // with their placeholders; empty: the learner is a plugin or a function
  std::optional<std::string> function;     // "/path/train.py:train", which is called with the learner's options
  std::optional<std::string> python;       // interpreter of the function; absent: by FunctionWords
  nlohmann::json metrics;                  // patterns over its output: {"return": "episodic_return=([-0-9.]+)"}
  std::optional<std::string> tensorboard;  // which event files below the attempt's folder are read: "runs/**"
  std::vector<std::string> files;          // that belong to the trial's identity by their content
  nlohmann::json written;                  // texts of options that differ from their values' own form: {"lr": "3.0e-4"}
};

struct RolloutConfig {
  uint64_t num_env_runners = 1;
  uint64_t num_envs_per_env_runner = 1;
  std::optional<uint64_t> threads;     // absent: auto, by TrialThreads
  bool pin_threads = false;            // binds each thread to a core
  uint64_t workers = 0;                // processes that play candidates; 0: none
  std::optional<uint64_t> chunk_rows;  // absent: auto, by AutoChunkRows
  uint64_t rows() const { return num_env_runners * num_envs_per_env_runner; }
  uint64_t ChunkRows() const { return chunk_rows.value_or(AutoChunkRows(num_envs_per_env_runner)); }

  // Blocks of up to 8 rows: enough blocks for the cores of common machines, and enough rows for one call of a learner.
  static RolloutConfig OfRows(uint64_t rows) {
    const uint64_t rows_of_a_runner = std::gcd(rows, uint64_t{8});
    return {.num_env_runners = rows / rows_of_a_runner, .num_envs_per_env_runner = rows_of_a_runner};
  }

  static constexpr uint64_t kMostRows = 1 << 24;
};

// The first limit that is reached ends the trial; at least one is set, or ReportConfig::precision_pct.
struct BudgetConfig {
  std::optional<uint64_t> iterations, env_steps, episodes, epochs;
  std::optional<double> wall_time_s;
  std::optional<Goal> until;  // ends the trial, too; no limit, because it may never be reached
};

struct EvaluationConfig {
  static constexpr uint64_t kMaxEpisodeSteps = 100'000;

  uint64_t every_iterations = 0;  // 0: only at the end
  bool at_start = false;          // also before the first iteration
  uint64_t episodes = 0;          // 0: no evaluation
  // Cap of an episode that is played to its end (evaluation, candidate, film) and whose env declares no limit.
  uint64_t max_episode_steps = kMaxEpisodeSteps;
  nlohmann::json env_options;  // overrides of env.options for the evaluation instance
};

// The metric of evaluations whose best checkpoint is kept; absent: none.
struct BestConfig {
  std::optional<std::string> metric;
  std::optional<std::string> direction;  // maximize, minimize; set for every metric but kKnownMetric

  static constexpr char kKnownMetric[] = "eval/return";  // higher is better
  int Direction() const { return direction == "minimize" ? -1 : 1; }
};

// Without every_iterations and every_episodes, only the end and `best` write a checkpoint.
struct CheckpointConfig {
  uint64_t every_iterations = 0, every_episodes = 0;  // 0: never
  uint64_t keep = kKeptCheckpoints;                   // newest ones, in addition to the best
  bool keep_replay = false;                           // the learner's files of a completed trial
  BestConfig best = {};
};

// One of them is set.
struct DeviceMemory {
  uint64_t bytes = 0;
  double percent = 0;  // of the granted GPU, or of the trial's share of it
  bool operator==(const DeviceMemory&) const = default;
};

struct ResourceConfig {
  std::optional<uint64_t> cpus;  // absent: auto
  double gpus = 0;
  std::optional<uint64_t> memory_bytes;
  std::optional<DeviceMemory> device_memory;
  std::optional<double> wall_time_s;
  double hang_timeout_s = 300;  // no sign of life for so long: the trial is ended
  bool exclusive = false;       // `auto` in the file is decided when it is read: true if ReportConfig::ComparesTimes
};

struct ReportConfig : ReportSection {
  // For kind parallel_efficiency: a trial runs until the 95 % interval over its measured iterations is within this percentage
  // of its speed. It also ends when the time of its point, shared by all seeds, is used up. Both are set; with precision off,
  // the time has no effect.
  std::optional<double> precision_pct, max_time_s;
  // Properties of its kind (record/report_kinds.hpp); false without a kind.
  bool ComparesTimes() const { return MeasuresSpeed() || (timing && Kind().takes_timing); }
  bool RunsInTurn() const { return ComparesTimes() || Kind().in_turn; }
  bool MeasuresSpeed() const { return Kind().measures_speed; }
  uint64_t DefaultSeeds() const { return Kind().seeds; }

 private:
  ReportKind Kind() const {
    const ReportKind* known = kind ? FindReportKind(*kind) : nullptr;
    return known ? *known : ReportKind{};
  }
};

enum class FailureAction { kFail = 1, kInfeasible, kShrink, kKeepPartial, kRetry };

struct FailureRule {
  FailureAction action = FailureAction::kFail;
  uint64_t retries = 0;  // of kRetry: attempts after the first; when they are used up the trial has failed
};

// Actions after an attempt that ended in one of these ways.
struct OnFailure {
  FailureRule device_oom{FailureAction::kShrink}, host_oom{FailureAction::kInfeasible};
  FailureRule signal{FailureAction::kRetry, 1}, temp{FailureAction::kRetry, 3};
  FailureRule timeout{FailureAction::kKeepPartial}, nan, config, plugin;
};

struct FlappingLimit {
  uint64_t failures = 3;  // 0: no limit
  double window_s = 60;
};

// When a sweep is paused: running trials finish, no other starts.
struct StopSweep {
  FlappingLimit flapping;
  uint64_t initial_failures = 5;  // before the first success; 0: no limit
  double max_failed_fraction = 1.0;
};

// The engine that runs trials (module cluster). It does not affect results, so it is not part of a trial's identity.
struct EngineConfig {
  std::string kind = "local";
  uint64_t nodes = 1;                                      // slurm: jobs of the array, each on one node
  std::optional<std::string> partition, account, address;  // of slurm, of slurm, of ray
  std::optional<std::string> python;                       // ray: the interpreter that has the package
  std::vector<std::string> options;                        // slurm: further ones of sbatch
  bool shared = true;                                      // ray: the nodes see the results folder
};

struct Experiment {
  std::string name;
  std::optional<std::string> preset;  // whose values are among these; recorded only
  uint64_t seed = 0;
  PluginUse env, learner;
  std::vector<PluginUse> wrappers;        // over env, the innermost first
  std::optional<std::string> start_from;  // absolute: a trial of a results folder or a file (start_source.hpp)
  bool start_optimizer = false;           // the optimiser's state, too
  CommandConfig command;
  std::vector<PluginUse> monitors;
  RolloutConfig rollout;
  BudgetConfig budget;
  // A record `Budget`: the learner's schedules read it instead of `budget` (`run --keep-schedule`); null: they read `budget`.
  nlohmann::json schedule_budget;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;
  ResourceConfig resources;
  ReportConfig report;
  OnFailure on_failure;
  StopSweep stop_sweep;
  EngineConfig engine;
  std::string output_dir;  // default outputs/<name>
#define BACKPLANE_MEMBER(type, member, initially, ...) type member = initially;
  BACKPLANE_PLAIN_KEYS(BACKPLANE_MEMBER)
#undef BACKPLANE_MEMBER
  std::vector<std::string> plugin_path;

  bool HasCommand() const { return !command.words.empty() || command.function; }
};

// The JSON has the form of the experiment file (a duration is "1800s", a size "16GiB"), so it can be read as one too.
nlohmann::json ToJson(const Experiment& experiment);
// Keys with a default, or optional ones, may be missing. Throws std::runtime_error on a document of a different shape.
Experiment ExperimentFromJson(const nlohmann::json& json);

}  // namespace backplane
