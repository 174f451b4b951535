#include "contract/schema.hpp"

#include <unordered_map>

#include "contract/codec.hpp"
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
      Unbound("base", Type::kBase, "a file that this one is merged over"),
      Required(Key("experiment", kBatch, Type::kName, "", nullptr, "name,exp_name,run_name",
                   "name of the results folder; left out: what the file is called", MEMBER(name))),
      Key("preset", kBatch, Type::kText, "", nullptr, "hardware,profile",
          "settings for a kind of machine, from presets/NAME.yaml or a path; auto: by the device found", MEMBER(preset)),
      In(Key("seed", kIdentity, Type::kSeed, "[0,)", "0", "=random_seed", "seed of every random number of the trial",
             MEMBER(seed)),
         ""),
      Required(In(Key("env.plugin", kIdentity, Type::kPluginName, "", nullptr, "=env_id,=env_name", "the environment",
                      MEMBER(env.plugin)),
                  "env.id")),
      Key("env.options", kIdentity, Type::kPluginOptions, "", nullptr, "env_config,env_kwargs", "its options",
          MEMBER(env.options)),
      Required(In(Key("learner.plugin", kIdentity, Type::kPluginName, "", nullptr, "=algo,=algorithm,agent", "the learner",
                      MEMBER(learner.plugin)),
                  "learner.id")),
      Key("learner.options", kIdentity, Type::kPluginOptions, "", nullptr, "hyperparameters", "its options",
          MEMBER(learner.options)),
      OfCommand(Key("learner.command", kIdentity, Type::kWords, "", nullptr, "entrypoint,program,script",
                    "a program and its arguments in the place of a plugin; its placeholders are the options",
                    MEMBER(command.words))),
      OfCommand(Key("learner.metrics", kIdentity, Type::kPatterns, "", nullptr, "",
                    "measures of a command by patterns over the lines it prints; `step` is the env steps so far",
                    MEMBER(command.metrics))),
      OfCommand(Key("learner.tensorboard", kIdentity, Type::kText, "", nullptr, "tensorboard_log",
                    "event files of a command, below its working folder, whose scalars are measures",
                    MEMBER(command.tensorboard))),
      OfCommand(Key("learner.files", kIdentity, Type::kPathList, "", nullptr, "",
                    "files of a command, beside those its words name: another content is another trial",
                    MEMBER(command.files))),
      Key("monitors", kSpeed, Type::kMonitors, "", nullptr, "callbacks,loggers", "plugins that listen to the trial",
          MEMBER(monitors)),
      Key("rollout.num_env_runners", kIdentity, Type::kInteger, "[1,65536]", "1",
          "=num_env_runners,=num_rollout_workers,num_workers,num_runners",
          "blocks of rows; with both counts left out, the rows that the env's description says",
          MEMBER(rollout.num_env_runners)),
      Key("rollout.num_envs_per_env_runner", kIdentity, Type::kInteger, "[1,1048576]", "1",
          "=num_envs_per_env_runner,=num_envs_per_worker,num_envs,n_envs", "rows of a block",
          MEMBER(rollout.num_envs_per_env_runner)),
      Key("rollout.threads", kSpeed, Type::kInteger, "auto|[1,1024]", "auto", "num_threads,n_jobs",
          "threads that run the blocks and share the learner's work; changes speed, never results", MEMBER(rollout.threads)),
      Key("rollout.pin_threads", kSpeed, Type::kFlag, "", "false", "thread_affinity,cpu_affinity",
          "each thread keeps to a core of its own; for a machine that does nothing else; changes speed, never results",
          MEMBER(rollout.pin_threads)),
      Key("rollout.workers", kSpeed, Type::kInteger, "[0,1024]", "0", "num_remote_workers,num_actors",
          "processes that play the candidates of learners which have candidates evaluated; 0: the trial plays them; changes "
          "speed, never results",
          MEMBER(rollout.workers)),
      In(Key("rollout.chunk_rows", kIdentity, Type::kInteger, "auto|[1,1048576]", "auto", "chunk_size",
             "rows of one act or step call; changes results", MEMBER(rollout.chunk_rows)),
         "rollout.chunk_rows", [](const Experiment& e) { return std::optional<json>(e.rollout.ChunkRows()); }),
      Key("budget.iterations", kIdentity, Type::kInteger, "[1,)", nullptr,
          "=max_iterations,=num_iterations,=training_iteration,max_steps", "the trial ends after so many iterations",
          MEMBER(budget.iterations)),
      Key("budget.env_steps", kIdentity, Type::kInteger, "[1,)", nullptr, "=total_timesteps,=timesteps_total,max_env_steps",
          "the trial ends after so many steps of single rows", MEMBER(budget.env_steps)),
      Key("budget.epochs", kIdentity, Type::kInteger, "[1,)", nullptr, "=num_train_epochs,max_epochs",
          "the trial ends after so many passes over the data", MEMBER(budget.epochs)),
      In(Key("budget.wall_time", kIdentity, Type::kDuration, "(0,)", nullptr, "max_time,time_limit",
             "the trial ends after so long", MEMBER(budget.wall_time_s)),
         "budget.wall_time_s", [](const Experiment& e) { return PlaceIf(true, e.budget.wall_time_s); }),
      Key("evaluation.every_iterations", kIdentity, Type::kInteger, "[0,)", "0", "=evaluation_interval,eval_freq,eval_steps",
          "0: only at the end", MEMBER(evaluation.every_iterations)),
      Key("evaluation.at_start", kIdentity, Type::kFlag, "", "false", "eval_on_start", "also before the first iteration",
          MEMBER(evaluation.at_start)),
      Key("evaluation.episodes", kIdentity, Type::kInteger, "[0,1000000]", "0", "=evaluation_duration,n_eval_episodes",
          "0: no evaluation; the last one is repeated with zero and with uniform actions", MEMBER(evaluation.episodes)),
      In(Key("evaluation.max_episode_steps", kIdentity, Type::kInteger, "[1,1000000000000]", "100000", "",
             "truncate an episode of an evaluation, a candidate or a film after so many steps if its env declares no limit",
             MEMBER(evaluation.max_episode_steps)),
         "evaluation.max_episode_steps",
         [](const Experiment& e) {
           const uint64_t steps = e.evaluation.max_episode_steps;
           return steps == EvaluationConfig::kMaxEpisodeSteps ? std::nullopt : std::optional<json>(steps);
         }),
      In(Key("evaluation.env.options", kIdentity, Type::kPluginOptions, "", nullptr, "evaluation_config",
             "options of the environment that differ in evaluation", MEMBER(evaluation.env_options)),
         "evaluation.env_options"),
      Key("checkpoint.every_iterations", kSpeed, Type::kInteger, "[0,)", "0", "=checkpoint_frequency,save_freq,save_steps",
          "0: only at the end", MEMBER(checkpoint_every_iterations)),
      Key("resources.cpus", kSpeed, Type::kInteger, "auto|[1,65536]", "auto", "num_cpus",
          "processor cores granted to the trial", MEMBER(resources.cpus)),
      In(Key("resources.gpus", kSpeed, Type::kNumber, "[0,65536]", "0", "=num_gpus,=num_gpus_per_learner",
             "devices, or a part of one", MEMBER(resources.gpus)),
         "device", [](const Experiment& e) { return std::optional<json>(e.resources.gpus > 0 ? "cuda" : "cpu"); }),
      Key("resources.memory", kSpeed, Type::kSize, "(0,)", nullptr, "max_memory", "the trial is ended beyond it",
          MEMBER(resources.memory_bytes)),
      Key("resources.device_memory", kSpeed, Type::kSize, "(0,)", nullptr, "memory_budget_mb,gpu_memory",
          "device memory the trial may take", MEMBER(resources.device_memory_bytes)),
      Key("resources.wall_time", kSpeed, Type::kDuration, "(0,)", nullptr, "", "the trial is ended as failed after so long",
          MEMBER(resources.wall_time_s)),
      Key("resources.hang_timeout", kSpeed, Type::kDuration, "(0,)", "300s", "",
          "a trial without a sign of life for so long is ended; a stopped one (state T) after twice that",
          MEMBER(resources.hang_timeout_s)),
      Key("resources.exclusive", kSpeed, Type::kFlag, "auto", "auto", "",
          "nothing else of ours runs on the trial's cores and device; auto: only if the report compares times",
          MEMBER(resources.exclusive)),
      Key("engine.kind", kBatch, Type::kEnum, "local|slurm|ray", "local", "backend,executor",
          "where trials run: on this machine, or on the nodes of a Slurm or Ray cluster; also --engine", MEMBER(engine.kind)),
      Key("engine.nodes", kBatch, Type::kInteger, "[1,1000]", "1", "num_nodes",
          "slurm: jobs of the array, each on one node; they share the trials that --jobs lets run at once",
          MEMBER(engine.nodes)),
      Key("engine.partition", kBatch, Type::kText, "", nullptr, "queue", "slurm: the partition", MEMBER(engine.partition)),
      Key("engine.account", kBatch, Type::kText, "", nullptr, "", "slurm: who is charged", MEMBER(engine.account)),
      Key("engine.options", kBatch, Type::kTextList, "", "[]", "sbatch_options",
          "slurm: further options of sbatch, as it takes them: \"--qos=long\"", MEMBER(engine.options)),
      Key("engine.address", kBatch, Type::kText, "", nullptr, "ray_address",
          "ray: of the cluster's head, as ray.init takes it; default: auto, the one of this machine", MEMBER(engine.address)),
      Key("engine.python", kBatch, Type::kText, "", nullptr, "",
          "ray: the interpreter that has the package ray; default: BACKPLANE_PYTHON, else .venv, else python3",
          MEMBER(engine.python)),
      Key("engine.shared", kBatch, Type::kFlag, "", "true", "shared_folder",
          "ray: the nodes see the results folder; false: what a trial needs and leaves travels through Ray",
          MEMBER(engine.shared)),
      Key("output.dir", kBatch, Type::kText, "", "outputs/<experiment>", "=output_dir,logdir,log_dir,save_dir",
          "the results folder", MEMBER(output_dir)),
      BACKPLANE_PLAIN_KEYS(PLAIN_KEY)  // each with its comma
      Key("plugin_path", kBatch, Type::kPathList, "", "[]", "plugin_dirs", "folders searched for plugins", MEMBER(plugin_path)),
      Unbound("sweep", Type::kSweep, "many trials from one file"),
      Unbound("stages", Type::kStages,
              "settings that are trained with one after the other, each from where the one before ended"),
      Unbound("compare", Type::kCompare, "which of its arms is better: `backplane compare`"),
      In(Key("report.kind", kBatch, Type::kEnum, ReportKindNames("|"), nullptr, "report_type",
             "what is written when the trials are done", MEMBER(report.kind)),
         "budget.warm_up_iterations",
         [](const Experiment& e) { return e.report.MeasuresSpeed() ? std::optional<json>(1) : std::nullopt; }),
      Key("report.name", kBatch, Type::kName, "", nullptr, "", "names its files; default: the kind", MEMBER(report.name)),
      Key("report.baseline", kBatch, Type::kJson, "", nullptr, "reference",
          "the point that others are compared with: its name or its values", MEMBER(report.baseline)),
      Key("report.balanced.efficiency", kBatch, Type::kNumber, "(0,1000]", nullptr, "",
          "a setting is balanced from this core efficiency on, in percent; default: 80", MEMBER(report.balanced.efficiency)),
      Key("report.balanced.memory", kBatch, Type::kNumber, "(0,100]", "80", "",
          "and with at most this peak of memory, in percent", MEMBER(report.balanced.memory)),
      Key("report.balanced.device_memory", kBatch, Type::kNumber, "(0,100]", nullptr, "", "likewise of device memory",
          MEMBER(report.balanced.device_memory)),
      Key("report.balanced.cpu", kBatch, Type::kNumber, "(0,100]", nullptr, "",
          "with at most this mean use of the granted cores", MEMBER(report.balanced.cpu)),
      Key("report.balanced.gpu", kBatch, Type::kNumber, "(0,100]", nullptr, "", "likewise of the GPUs",
          MEMBER(report.balanced.gpu)),
      Key("report.timing", kBatch, Type::kFlag, "", "false", "", "a comparison that compares times", MEMBER(report.timing)),
      In(Key("report.precision", kBatch, Type::kPercent, "(0,100]", nullptr, "",
             "a trial of kind parallel_efficiency goes on until the 95 % interval over its iterations is within so much of its "
             "speed; default: 5% without a budget, else off",
             MEMBER(report.precision_pct)),
         "budget.precision_pct",
         [](const Experiment& e) { return PlaceIf(e.report.precision_pct.has_value(), e.report.precision_pct); }),
      In(Key("report.max_time", kBatch, Type::kDuration, "(0,)", nullptr, "",
             "and for no longer than so long a point, its seeds together; default: 20s", MEMBER(report.max_time_s)),
         "budget.max_time_s",
         [](const Experiment& e) { return PlaceIf(e.report.precision_pct.has_value(), e.report.max_time_s); }),
      Key("report.columns", kBatch, Type::kJson, "", nullptr, "", "metrics, or expressions of metrics, of its table",
          MEMBER(report.columns)),
      Key("report.figures", kBatch, Type::kJson, "", nullptr, "plots", "its figures", MEMBER(report.figures)),
      Key("report.notes", kBatch, Type::kJson, "", nullptr, "", "sentences that stand among the report's limits",
          MEMBER(report.notes)),
      Key("report.select", kBatch, Type::kJson, "", nullptr, "",
          "the metric that decides, and where the best settings are written", MEMBER(report.select)),
      Key("on_failure.device_oom", kBatch, Type::kFailurePolicy, "fail|infeasible|shrink|retry", "shrink", "gpu_oom",
          "an attempt ran out of device memory", MEMBER(on_failure.device_oom)),
      Key("on_failure.host_oom", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "infeasible", "oom",
          "an attempt ran out of memory", MEMBER(on_failure.host_oom)),
      Key("on_failure.signal", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 1}", "crash",
          "a signal ended an attempt", MEMBER(on_failure.signal)),
      Key("on_failure.temp", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 3}", "temporary",
          "an attempt asks for another", MEMBER(on_failure.temp)),
      Key("on_failure.timeout", kBatch, Type::kFailurePolicy, "fail|infeasible|keep_partial|retry", "keep_partial", "walltime",
          "an attempt took longer than resources.wall_time", MEMBER(on_failure.timeout)),
      Key("on_failure.nan", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "diverged",
          "a number was not finite", MEMBER(on_failure.nan)),
      Key("on_failure.config", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "usage",
          "a plugin refused its options", MEMBER(on_failure.config)),
      Key("on_failure.plugin", kBatch, Type::kFailurePolicy, "fail|infeasible|retry", "fail", "", "a plugin broke its contract",
          MEMBER(on_failure.plugin)),
      Key("stop_sweep.flapping", kBatch, Type::kFlapping, "", "3 in 60s", "",
          "so many failures in so long pause the sweep; 0: never", MEMBER(stop_sweep.flapping)),
      Key("stop_sweep.initial_failures", kBatch, Type::kInteger, "[0,)", "5", "",
          "so many failures before the first success pause the sweep; 0: never", MEMBER(stop_sweep.initial_failures)),
      Key("stop_sweep.max_failed_fraction", kBatch, Type::kNumber, "[0,1]", "1.0", "",
          "the sweep is paused when more than this part of its trials failed", MEMBER(stop_sweep.max_failed_fraction)),
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
         key.type == ValueType::kJson || key.type == ValueType::kPatterns;
}

}  // namespace backplane
