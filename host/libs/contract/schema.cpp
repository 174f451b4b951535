#include "contract/schema.hpp"

#include <unordered_map>

#include "contract/codec.hpp"
#include "record/kept_start.hpp"
#include "text/split_list.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using Type = ValueType;

// A row of the table. `Member` is a lambda from an Experiment to the member that the key fills.
template <typename Member>
HostKey Key(const char* path, Scope scope, Type type, std::string range, const char* def, const char* other_names,
            const char* doc, Member) {
  HostKey key{path, scope, type, std::move(range), def, /*required=*/false, other_names, doc};
  if (scope == Scope::kIdentity) key.canonical = path;
  key.get = [](const HostKey& k, const Experiment& e) { return Encode(k, Member{}(e)); };
  key.set = [](const HostKey& k, const json& j, Experiment* e) { Decode(k, j, &Member{}(*e)); };
  return key;
}

HostKey Required(HostKey key) {
  key.required = true;
  return key;
}

HostKey Unbound(const char* path, Type type, const char* doc) {
  return {path, Scope::kBatch, type, "", nullptr, false, "", doc};
}

HostKey OfCommand(HostKey key) {
  key.of_command = true;
  return key;
}

HostKey Rare(HostKey key) {
  key.rare = true;
  return key;
}

// With another place in the identity than its own, or another value there than in a saved configuration.
HostKey In(HostKey key, const char* canonical, decltype(HostKey::identity) identity = nullptr) {
  key.canonical = canonical;
  key.identity = identity;
  return key;
}

// A number as such and null for none, or no place at all.
std::optional<json> PlaceIf(bool stands, const std::optional<double>& value) {
  if (!stands) return std::nullopt;
  return value ? json(*value) : json();
}

#define MEMBER(name) \
  [](auto& e) -> auto& { return e.name; }
#define PLAIN_KEY(cpp_type, member, initially, path, scope, type, ...) \
  Key(path, scope, Type::type, __VA_ARGS__, MEMBER(member)),

const std::vector<HostKey>& Table() {
  using enum Scope;
  static const std::vector<HostKey> table = {
      Unbound("base", Type::kBase, "file to extend; the keys of this file override it"),
      Required(Key("experiment", kBatch, Type::kName, "", nullptr, "name,exp_name,run_name",
                   "name of the results folder; default: the file's name", MEMBER(name))),
      Key("preset", kBatch, Type::kText, "", nullptr, "hardware,profile",
          "settings for a kind of machine: NAME of presets/NAME.yaml, a path, or auto to choose by the device found", MEMBER(preset)),
      In(Key("seed", kIdentity, Type::kSeed, "[0,)", "0", "=random_seed", "seed of all random numbers of the trial",
             MEMBER(seed)),
         ""),
      Required(In(Key("env.plugin", kIdentity, Type::kPluginName, "", nullptr, "=env_id,=env_name", "environment: a plugin's name or file",
                      MEMBER(env.plugin)),
                  "env.id")),
      Key("env.options", kIdentity, Type::kPluginOptions, "", nullptr, "env_config,env_kwargs", "options of the environment",
          MEMBER(env.options)),
      In(Key("env.wrappers", kIdentity, Type::kWrappers, "", nullptr, "",
             "envs over the environment, the innermost first: [{NAME: value or options}]", MEMBER(wrappers)),
         "env.wrappers",
         [](const Experiment& e) { return e.wrappers.empty() ? std::nullopt : std::optional<json>(json::array()); }),
      Required(In(Key("learner.plugin", kIdentity, Type::kPluginName, "", nullptr, "=algo,=algorithm,agent", "learner: a plugin's name or file",
                      MEMBER(learner.plugin)),
                  "learner.id")),
      Key("learner.options", kIdentity, Type::kPluginOptions, "", nullptr, "hyperparameters", "options of the learner",
          MEMBER(learner.options)),
      In(Key("learner.start_from", kIdentity, Type::kText, "", nullptr,
                      "init_from,restore_from,load_policy,warm_start,pretrained_policy",
                      "trained policy to start from: OUT/TRIAL, OUT/TRIAL@best or a file of `backplane import policy`",
                      MEMBER(start_from)),
                  kStartKey,
                  [](const Experiment& e) { return e.start_from ? std::optional<json>(*e.start_from) : std::nullopt; }),
      In(Key("learner.start_optimizer", kIdentity, Type::kFlag, "", "false", "",
             "with start_from: also loads the optimizer of the source", MEMBER(start_optimizer)),
         "learner.start_optimizer",
         [](const Experiment& e) { return e.start_optimizer ? std::optional<json>(true) : std::nullopt; }),
      OfCommand(Key("learner.command", kIdentity, Type::kWords, "", nullptr, "entrypoint,program,script",
                    "program and arguments to run instead of a plugin; its placeholders are the options",
                    MEMBER(command.words))),
      OfCommand(In(Key("learner.function", kIdentity, Type::kText, "", nullptr, "objective,trainable",
                       "Python function FILE:NAME to call with the options instead of running a plugin",
                       MEMBER(command.function)),
                   "learner.function",
                   [](const Experiment& e) {
                     const auto& file = e.command.function;
                     return file ? std::optional<json>(file->substr(file->rfind('/') + 1)) : std::nullopt;
                   })),
      OfCommand(Key("learner.python", kSpeed, Type::kText, "", nullptr, "python_path",
                    "interpreter of the function; default: the active virtual environment's, else python3",
                    MEMBER(command.python))),
      OfCommand(Key("learner.metrics", kIdentity, Type::kPatterns, "", nullptr, "",
                    "patterns that read metrics from the command's output, by name; `step` is the env steps so far",
                    MEMBER(command.metrics))),
      OfCommand(Key("learner.tensorboard", kIdentity, Type::kText, "", nullptr, "tensorboard_log",
                    "event files below the command's working folder, whose scalars become metrics",
                    MEMBER(command.tensorboard))),
      OfCommand(Key("learner.files", kIdentity, Type::kPathList, "", nullptr, "",
                    "further files that the command uses; a change of their content makes a new trial",
                    MEMBER(command.files))),
      In(OfCommand(Key("learner.written", kIdentity, Type::kStructure, "mapping", nullptr, "",
                       "texts of options that differ from their values, such as \"1.10\"; written by `config show`",
                       MEMBER(command.written))),
         "learner.written",
         [](const Experiment& e) { return e.command.written.empty() ? std::nullopt : std::optional(e.command.written); }),
      Key("monitors", kSpeed, Type::kMonitors, "", nullptr, "callbacks,loggers", "plugins that observe the trial",
          MEMBER(monitors)),
      Key("rollout.num_env_runners", kIdentity, Type::kInteger, "[1,65536]", "1",
          "=num_env_runners,=num_rollout_workers,num_workers,num_runners",
          "env runners; without this and num_envs_per_env_runner, the env may declare its number of envs",
          MEMBER(rollout.num_env_runners)),
      Key("rollout.num_envs_per_env_runner", kIdentity, Type::kInteger, "[1,1048576]", "1",
          "=num_envs_per_env_runner,=num_envs_per_worker,num_envs,n_envs", "envs per env runner",
          MEMBER(rollout.num_envs_per_env_runner)),
      Key("rollout.threads", kSpeed, Type::kInteger, "auto|[1,1024]", "auto", "num_threads,n_jobs",
          "threads that run the env runners and share the learner's work; affects speed, never results", MEMBER(rollout.threads)),
      Key("rollout.pin_threads", kSpeed, Type::kFlag, "", "false", "thread_affinity,cpu_affinity",
          "pins each thread to its own core, for an otherwise idle machine; affects speed, never results",
          MEMBER(rollout.pin_threads)),
      Key("rollout.workers", kSpeed, Type::kInteger, "[0,1024]", "0", "num_remote_workers,num_actors",
          "rollout workers, processes that play the rollouts or candidates of the trial; 0: the trial plays them; affects "
          "speed, never results",
          MEMBER(rollout.workers)),
      In(Key("rollout.chunk_rows", kIdentity, Type::kInteger, "auto|[1,1048576]", "auto", "chunk_size",
             "envs per act or step call; affects results", MEMBER(rollout.chunk_rows)),
         "rollout.chunk_rows", [](const Experiment& e) { return std::optional<json>(e.rollout.ChunkRows()); }),
      Key("budget.iterations", kIdentity, Type::kInteger, "[1,)", nullptr,
          "=max_iterations,=num_iterations,=training_iteration,max_steps", "ends the trial after this many iterations",
          MEMBER(budget.iterations)),
      Key("budget.env_steps", kIdentity, Type::kInteger, "[1,)", nullptr,
          "=total_timesteps,=timesteps_total,max_env_steps,total_steps,stop",
          "ends the trial after this many env steps, summed over all envs", MEMBER(budget.env_steps)),
      In(Key("budget.episodes", kIdentity, Type::kInteger, "[1,)", nullptr, "=max_episodes,=num_episodes,total_episodes",
             "ends the trial after the iteration that completes this many episodes, summed over all envs",
             MEMBER(budget.episodes)),
         "budget.episodes",
         [](const Experiment& e) { return e.budget.episodes ? std::optional<json>(*e.budget.episodes) : std::nullopt; }),
      Key("budget.epochs", kIdentity, Type::kInteger, "[1,)", nullptr, "=num_train_epochs,max_epochs",
          "ends the trial after this many passes over the data", MEMBER(budget.epochs)),
      In(Key("budget.wall_time", kIdentity, Type::kDuration, "(0,)", nullptr, "max_time,time_limit",
             "ends the trial after this time", MEMBER(budget.wall_time_s)),
         "budget.wall_time_s", [](const Experiment& e) { return PlaceIf(true, e.budget.wall_time_s); }),
      Rare(Key("schedule_budget", kBatch, Type::kJson, "", nullptr, "",
               "budget that the learner's schedules read instead of `budget`; set by `run --keep-schedule`",
               MEMBER(schedule_budget))),
      Rare(In(Key(kUntil, kIdentity, Type::kGoal, "", nullptr, "stop_reward,reward_threshold,target_return",
             "ends the trial once evaluations reach a value of a metric, such as {eval/return: 475, for: 3}; "
             "for: how many in a row; comparisons then use steps_to",
             MEMBER(budget.until)),
         kUntil,
         [](const Experiment& e) { return e.budget.until ? std::optional(JsonOfGoal(*e.budget.until)) : std::nullopt; })),
      Key("evaluation.every_iterations", kIdentity, Type::kInteger, "[0,)", "0", "=evaluation_interval,eval_freq,eval_steps",
          "iterations between evaluations; 0: only at the end", MEMBER(evaluation.every_iterations)),
      Key("evaluation.at_start", kIdentity, Type::kFlag, "", "false", "eval_on_start", "also evaluates before the first iteration",
          MEMBER(evaluation.at_start)),
      Key("evaluation.episodes", kIdentity, Type::kInteger, "[0,1000000]", "0", "=evaluation_duration,n_eval_episodes",
          "episodes per evaluation, 0: none; the last evaluation is repeated with zero and with uniform actions", MEMBER(evaluation.episodes)),
      In(Key("evaluation.max_episode_steps", kIdentity, Type::kInteger, "[1,1000000000000]", "100000", "",
             "truncates episodes of evaluations, candidates and films after this many steps if the env declares no limit",
             MEMBER(evaluation.max_episode_steps)),
         "evaluation.max_episode_steps",
         [](const Experiment& e) {
           const uint64_t steps = e.evaluation.max_episode_steps;
           return steps == EvaluationConfig::kMaxEpisodeSteps ? std::nullopt : std::optional<json>(steps);
         }),
      In(Key("evaluation.env.options", kIdentity, Type::kPluginOptions, "", nullptr, "evaluation_config",
             "env options that differ in evaluation", MEMBER(evaluation.env_options)),
         "evaluation.env_options"),
      Key("checkpoint.every_iterations", kSpeed, Type::kInteger, "[0,)", "0", "=checkpoint_frequency,save_freq,save_steps",
          "iterations between checkpoints; 0: only at the end", MEMBER(checkpoint.every_iterations)),
      Key("checkpoint.every_episodes", kSpeed, Type::kInteger, "[0,)", "0", "save_every_episodes",
          "episodes between checkpoints, each written after the iteration that completes them; 0: only at the end",
          MEMBER(checkpoint.every_episodes)),
      Key("checkpoint.keep", kSpeed, Type::kInteger, "[1,1000]", "2", "save_total_limit,keep_checkpoints_num,max_to_keep",
          "newest checkpoints to keep, in addition to the best; each takes disk space", MEMBER(checkpoint.keep)),
      Rare(Key("checkpoint.keep_replay", kSpeed, Type::kFlag, "", "false", "save_replay_buffer",
               "keeps a learner's files, such as its replay buffer, after the trial's end; extending the trial needs them",
               MEMBER(checkpoint.keep_replay))),
      Key("checkpoint.best.metric", kSpeed, Type::kText, "", nullptr, "checkpoint_score_attribute,metric_for_best_model",
          "metric of evaluations, eval/NAME, whose best checkpoint is kept as best.bin; also `best: eval/NAME`",
          MEMBER(checkpoint.best.metric)),
      Key("checkpoint.best.direction", kSpeed, Type::kEnum, "maximize|minimize", nullptr,
          "checkpoint_score_order,greater_is_better", "better direction of the metric; not needed for eval/return",
          MEMBER(checkpoint.best.direction)),
      Key("resources.cpus", kSpeed, Type::kInteger, "auto|[1,65536]", "auto",
          "num_cpus,num_cpus_per_worker,num_cpus_per_env_runner", "CPU cores granted to the trial", MEMBER(resources.cpus)),
      In(Key("resources.gpus", kSpeed, Type::kNumber, "[0,65536]", "0",
             "=num_gpus,=num_gpus_per_learner,num_gpus_per_worker,num_gpus_per_env_runner",
             "GPUs granted to the trial, or a fraction of one", MEMBER(resources.gpus)),
         "device", [](const Experiment& e) { return std::optional<json>(e.resources.gpus > 0 ? "cuda" : "cpu"); }),
      Key("resources.memory", kSpeed, Type::kSize, "(0,)", nullptr, "max_memory",
          "ends the trial if it uses more memory than this", MEMBER(resources.memory_bytes)),
      Key("resources.device_memory", kSpeed, Type::kSizeOrShare, "(0,)", nullptr, "memory_budget_mb,gpu_memory",
          "device memory that the trial may use: a size, or a percentage of its GPU", MEMBER(resources.device_memory)),
      Key("resources.wall_time", kSpeed, Type::kDuration, "(0,)", nullptr, "", 
          "ends the trial as failed after this time, without the time in a cluster's queue", MEMBER(resources.wall_time_s)),
      Key("resources.hang_timeout", kSpeed, Type::kDuration, "(0,)", "300s", "",
          "ends a trial that gives no sign of life for this time, or for twice this time if it is stopped (state T)",
          MEMBER(resources.hang_timeout_s)),
      Key("resources.exclusive", kSpeed, Type::kFlag, "auto", "auto", "",
          "keeps other trials off the trial's cores and device; auto: only if the report compares times",
          MEMBER(resources.exclusive)),
      Key("engine.kind", kBatch, Type::kEnum, "local|slurm|ray", "local", "backend,executor",
          "runs trials on this machine, or on the nodes of a Slurm or Ray cluster; also --engine", MEMBER(engine.kind)),
      Key("engine.nodes", kBatch, Type::kInteger, "[1,1000]", "1", "num_nodes",
          "slurm: jobs of the array, one per node; they share the trials that --jobs runs at the same time",
          MEMBER(engine.nodes)),
      Key("engine.partition", kBatch, Type::kText, "", nullptr, "queue", "slurm: partition", MEMBER(engine.partition)),
      Key("engine.account", kBatch, Type::kText, "", nullptr, "", "slurm: account to charge", MEMBER(engine.account)),
      Key("engine.options", kBatch, Type::kTextList, "", "[]", "sbatch_options",
          "slurm: further options of sbatch, such as \"--qos=long\"", MEMBER(engine.options)),
      Key("engine.address", kBatch, Type::kText, "", nullptr, "ray_address",
          "ray: address of the cluster, as for ray.init; default: auto, this machine's cluster", MEMBER(engine.address)),
      Key("engine.python", kBatch, Type::kText, "", nullptr, "",
          "ray: interpreter with the package ray; default: BACKPLANE_PYTHON, else .venv, else python3",
          MEMBER(engine.python)),
      Key("engine.shared", kBatch, Type::kFlag, "", "true", "shared_folder",
          "ray: all nodes share the results folder; false: Ray transfers the input and output of trials",
          MEMBER(engine.shared)),
      Key("output.dir", kBatch, Type::kText, "", "outputs/<experiment>", "=output_dir,logdir,log_dir,save_dir",
          "results folder", MEMBER(output_dir)),
      BACKPLANE_PLAIN_KEYS(PLAIN_KEY)  // each with its comma
      Key("plugin_path", kBatch, Type::kPathList, "", "[]", "plugin_dirs", "folders to search for plugins", MEMBER(plugin_path)),
      Unbound("sweep", Type::kSweep, "many trials from one file"),
      Unbound("stages", Type::kStages,
              "settings to train with one after another, each from the end of the previous one"),
      Unbound("compare", Type::kCompare, "arms to compare, and the rule that decides; see `backplane compare`"),
      In(Key("report.kind", kBatch, Type::kEnum, ReportKindNames("|"), nullptr, "report_type",
             "report to write when the trials are done", MEMBER(report.kind)),
         "budget.warm_up_iterations",
         [](const Experiment& e) { return e.report.MeasuresSpeed() ? std::optional<json>(1) : std::nullopt; }),
      Key("report.name", kBatch, Type::kName, "", nullptr, "", "name of the report's files; default: the kind", MEMBER(report.name)),
      Key("report.joint_dir", kBatch, Type::kText, "", nullptr, "", "folder of a report on several results folders, `backplane report A B`",
          MEMBER(report.joint_dir)),
      Key("report.baseline", kBatch, Type::kJson, "", nullptr, "reference",
          "point to compare the others with: its name or its values", MEMBER(report.baseline)),
      Key("report.balanced.efficiency", kBatch, Type::kNumber, "(0,1000]", nullptr, "",
          "least core efficiency of a balanced setting, in percent; default: 80", MEMBER(report.balanced.efficiency)),
      Key("report.balanced.memory", kBatch, Type::kNumber, "(0,100]", "80", "",
          "highest memory peak that the balanced setting may have, in percent", MEMBER(report.balanced.memory)),
      Key("report.balanced.device_memory", kBatch, Type::kNumber, "(0,100]", nullptr, "", "highest device memory peak that the balanced setting may have, in percent",
          MEMBER(report.balanced.device_memory)),
      Key("report.balanced.cpu", kBatch, Type::kNumber, "(0,100]", nullptr, "",
          "highest mean use of the granted cores that the balanced setting may have, in percent", MEMBER(report.balanced.cpu)),
      Key("report.balanced.gpu", kBatch, Type::kNumber, "(0,100]", nullptr, "", "highest mean use of the GPUs that the balanced setting may have, in percent",
          MEMBER(report.balanced.gpu)),
      Key("report.timing", kBatch, Type::kFlag, "", "false", "", "comparison: runs one trial at a time, so that their times can be compared", MEMBER(report.timing)),
      In(Key("report.precision", kBatch, Type::kPercent, "(0,100]", nullptr, "",
             "parallel_efficiency: runs each trial until the 95 % interval over its iterations is within this percentage of its "
             "speed; default: 5% without a budget, else off",
             MEMBER(report.precision_pct)),
         "budget.precision_pct",
         [](const Experiment& e) { return PlaceIf(e.report.precision_pct.has_value(), e.report.precision_pct); }),
      In(Key("report.max_time", kBatch, Type::kDuration, "(0,)", nullptr, "",
             "parallel_efficiency: time limit per point, for all its seeds together; default: 20s", MEMBER(report.max_time_s)),
         "budget.max_time_s",
         [](const Experiment& e) { return PlaceIf(e.report.precision_pct.has_value(), e.report.max_time_s); }),
      Key("report.columns", kBatch, Type::kJson, "", nullptr, "", "metrics, or expressions of metrics, in the report's table",
          MEMBER(report.columns)),
      Key("report.figures", kBatch, Type::kJson, "", nullptr, "plots", "figures of the report", MEMBER(report.figures)),
      Key("report.notes", kBatch, Type::kJson, "", nullptr, "", "sentences to add to the report's limits",
          MEMBER(report.notes)),
      Key("report.select", kBatch, Type::kJson, "", nullptr, "",
          "metric that decides, and the file for the best settings", MEMBER(report.select)),
      Key("on_failure.device_oom", kBatch, Type::kFailurePolicy, "fail|infeasible|shrink|retry", "shrink", "gpu_oom",
          "action if an attempt runs out of device memory", MEMBER(on_failure.device_oom)),
      Key("on_failure.host_oom", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "infeasible", "oom",
          "action if an attempt runs out of memory", MEMBER(on_failure.host_oom)),
      Key("on_failure.signal", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 1}", "crash",
          "action if a signal ends an attempt", MEMBER(on_failure.signal)),
      Key("on_failure.temp", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 3}", "temporary",
          "action if an attempt asks for a retry", MEMBER(on_failure.temp)),
      Key("on_failure.timeout", kBatch, Type::kFailurePolicy, "fail|infeasible|keep_partial|retry", "keep_partial", "walltime",
          "action if an attempt exceeds resources.wall_time", MEMBER(on_failure.timeout)),
      Key("on_failure.nan", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "diverged",
          "action if a number is not finite", MEMBER(on_failure.nan)),
      Key("on_failure.config", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "usage",
          "action if a plugin rejects its options", MEMBER(on_failure.config)),
      Key("on_failure.plugin", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "", "action if a plugin violates its contract",
          MEMBER(on_failure.plugin)),
      Key("stop_sweep.flapping", kBatch, Type::kFlapping, "", "3 in 60s", "",
          "pauses the sweep after this many failures in this time; 0: never", MEMBER(stop_sweep.flapping)),
      Key("stop_sweep.initial_failures", kBatch, Type::kInteger, "[0,)", "5", "",
          "pauses the sweep after this many failures before the first success; 0: never", MEMBER(stop_sweep.initial_failures)),
      Key("stop_sweep.max_failed_fraction", kBatch, Type::kNumber, "[0,1]", "1.0", "",
          "pauses the sweep if more than this fraction of its trials failed", MEMBER(stop_sweep.max_failed_fraction)),
  };
  return table;
}

#undef PLAIN_KEY
#undef MEMBER

}  // namespace

std::span<const HostKey> HostKeys() { return Table(); }

const HostKey* FindHostKey(const std::string& path) {
  static const std::unordered_map<std::string, const HostKey*> by_path = [] {
    std::unordered_map<std::string, const HostKey*> map;
    for (const HostKey& key : Table()) map.emplace(key.path, &key);
    return map;
  }();
  auto found = by_path.find(path);
  return found == by_path.end() ? nullptr : found->second;
}

const HostKey* FindHostKeyByAlias(const std::string& name) {
  static const std::unordered_map<std::string, const HostKey*> by_name = [] {
    std::unordered_map<std::string, const HostKey*> map;
    for (const HostKey& key : Table()) {
      for (const std::string& other : SplitList(key.other_names))
        if (other.starts_with('=')) map.emplace(other.substr(1), &key);
    }
    return map;
  }();
  auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::vector<std::string> OtherNames(const HostKey& key) {
  std::vector<std::string> names = SplitList(key.other_names);
  for (std::string& name : names) name.erase(0, name.starts_with('=') ? 1 : 0);
  return names;
}

namespace {

// By path; of a section whose keys differ: absent.
const std::unordered_map<std::string, std::optional<Scope>>& Sections() {
  static const auto sections = [] {
    std::unordered_map<std::string, std::optional<Scope>> map;
    for (const HostKey& key : Table()) {
      for (size_t dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1)) {
        const auto [section, fresh] = map.emplace(key.path.substr(0, dot), key.scope);
        if (section->second != key.scope) section->second.reset();
      }
    }
    return map;
  }();
  return sections;
}

}  // namespace

bool IsSection(const std::string& path) { return Sections().contains(path); }

std::optional<Scope> ScopeAt(std::string path) {
  for (;;) {
    if (const HostKey* key = FindHostKey(path)) return key->scope;
    if (const auto section = Sections().find(path); section != Sections().end()) return section->second;
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    path.resize(dot);
  }
}

std::vector<std::string> PathsOutsideIdentity() {
  std::vector<std::string> paths;
  for (const HostKey& key : Table())
    if (key.scope != Scope::kIdentity) paths.push_back(key.path);
  for (const auto& [path, scope] : Sections())
    if (scope && *scope != Scope::kIdentity) paths.push_back(path);
  return paths;
}

bool IsFreeForm(const HostKey& key) {
  return key.type == ValueType::kSweep || key.type == ValueType::kStages || key.type == ValueType::kCompare ||
         key.type == ValueType::kJson || key.type == ValueType::kPatterns || key.type == ValueType::kGoal;
}

}  // namespace backplane
