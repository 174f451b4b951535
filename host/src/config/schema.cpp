#include "config/schema.hpp"

#include <unordered_map>
#include <unordered_set>

#include "config/codec.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using Type = ValueType;

// A row of the table. `Member` is a lambda from an Experiment to the member that the key fills.
template <typename Member>
HostKey Key(const char* path, Type type, std::string range, const char* def, const char* other_names, const char* doc, Member) {
  HostKey key{path, type, std::move(range), def, /*required=*/false, other_names, doc};
  key.get = [](const HostKey& k, const Experiment& e) { return Encode(k, Member{}(e)); };
  key.set = [](const HostKey& k, const json& j, Experiment* e) { Decode(k, j, &Member{}(*e)); };
  return key;
}

HostKey Required(HostKey key) {
  key.required = true;
  return key;
}

HostKey Unbound(const char* path, Type type, const char* doc) { return {path, type, "", nullptr, false, "", doc}; }

#define MEMBER(name) \
  [](auto& e) -> auto& { return e.name; }

const std::vector<HostKey>& Table() {
  static const std::vector<HostKey> table = {
      Unbound("base", Type::kBase, "a file that this one is merged over"),
      Required(
          Key("experiment", Type::kName, "", nullptr, "name,exp_name,run_name", "name of the results folder", MEMBER(name))),
      Key("preset", Type::kText, "", nullptr, "hardware,profile",
          "settings for a kind of machine, from presets/NAME.yaml or a path; auto: by the device found", MEMBER(preset)),
      Key("seed", Type::kInteger, "[0,)", "0", "random_seed", "seed of every random number of the trial", MEMBER(seed)),
      Required(Key("env.plugin", Type::kPluginName, "", nullptr, "env_name,env_id", "the environment", MEMBER(env.plugin))),
      Key("env.options", Type::kPluginOptions, "", nullptr, "env_config,env_kwargs", "its options", MEMBER(env.options)),
      Required(
          Key("learner.plugin", Type::kPluginName, "", nullptr, "algo,algorithm,agent", "the learner", MEMBER(learner.plugin))),
      Key("learner.options", Type::kPluginOptions, "", nullptr, "hyperparameters", "its options", MEMBER(learner.options)),
      Key("monitors", Type::kMonitors, "", nullptr, "callbacks,loggers", "plugins that listen to the trial", MEMBER(monitors)),
      Key("rollout.num_env_runners", Type::kInteger, "[1,65536]", "1", "num_rollout_workers,num_workers,num_runners",
          "blocks of rows", MEMBER(rollout.num_env_runners)),
      Key("rollout.num_envs_per_env_runner", Type::kInteger, "[1,1048576]", "1", "num_envs_per_worker,num_envs,n_envs",
          "rows of a block", MEMBER(rollout.num_envs_per_env_runner)),
      Key("rollout.threads", Type::kInteger, "auto|[1,1024]", "auto", "num_threads,n_jobs",
          "threads that run the blocks and share the learner's work; changes speed, never results", MEMBER(rollout.threads)),
      Key("rollout.pin_threads", Type::kFlag, "", "false", "thread_affinity,cpu_affinity",
          "each thread keeps to a core of its own; for a machine that does nothing else; changes speed, never results",
          MEMBER(rollout.pin_threads)),
      Key("rollout.chunk_rows", Type::kInteger, "auto|[1,1048576]", "auto", "chunk_size",
          "rows of one act or step call; changes results", MEMBER(rollout.chunk_rows)),
      Key("budget.iterations", Type::kInteger, "[1,)", nullptr, "max_iterations,num_iterations,training_iteration,max_steps",
          "the trial ends after so many iterations", MEMBER(budget.iterations)),
      Key("budget.env_steps", Type::kInteger, "[1,)", nullptr, "total_timesteps,timesteps_total,max_env_steps",
          "the trial ends after so many steps of single rows", MEMBER(budget.env_steps)),
      Key("budget.epochs", Type::kInteger, "[1,)", nullptr, "num_train_epochs,max_epochs",
          "the trial ends after so many passes over the data", MEMBER(budget.epochs)),
      Key("budget.wall_time", Type::kDuration, "(0,)", nullptr, "max_time,time_limit", "the trial ends after so long",
          MEMBER(budget.wall_time_s)),
      Key("evaluation.every_iterations", Type::kInteger, "[0,)", "0", "evaluation_interval,eval_freq,eval_steps",
          "0: only at the end", MEMBER(evaluation.every_iterations)),
      Key("evaluation.at_start", Type::kFlag, "", "false", "eval_on_start", "also before the first iteration",
          MEMBER(evaluation.at_start)),
      Key("evaluation.episodes", Type::kInteger, "[0,1000000]", "0", "evaluation_duration,n_eval_episodes",
          "0: no evaluation; the last one is repeated with zero and with uniform actions", MEMBER(evaluation.episodes)),
      Key("evaluation.env.options", Type::kPluginOptions, "", nullptr, "evaluation_config",
          "options of the environment that differ in evaluation", MEMBER(evaluation.env_options)),
      Key("checkpoint.every_iterations", Type::kInteger, "[0,)", "0", "checkpoint_frequency,save_freq,save_steps",
          "0: only at the end", MEMBER(checkpoint_every_iterations)),
      Key("resources.cpus", Type::kInteger, "auto|[1,65536]", "auto", "num_cpus", "processor cores granted to the trial",
          MEMBER(resources.cpus)),
      Key("resources.gpus", Type::kNumber, "[0,65536]", "0", "num_gpus,num_gpus_per_learner", "devices, or a part of one",
          MEMBER(resources.gpus)),
      Key("resources.memory", Type::kSize, "(0,)", nullptr, "max_memory", "the trial is ended beyond it",
          MEMBER(resources.memory_bytes)),
      Key("resources.device_memory", Type::kSize, "(0,)", nullptr, "memory_budget_mb,gpu_memory",
          "device memory the trial may take", MEMBER(resources.device_memory_bytes)),
      Key("resources.wall_time", Type::kDuration, "(0,)", nullptr, "", "the trial is ended as failed after so long",
          MEMBER(resources.wall_time_s)),
      Key("resources.hang_timeout", Type::kDuration, "(0,)", "300s", "", "a trial without a sign of life for so long is ended",
          MEMBER(resources.hang_timeout_s)),
      Key("resources.exclusive", Type::kFlag, "auto", "auto", "",
          "nothing else of ours runs on the trial's cores and device; auto: only if the report compares times",
          MEMBER(resources.exclusive)),
      Key("output.dir", Type::kText, "", "outputs/<experiment>", "output_dir,logdir,log_dir,save_dir", "the results folder",
          MEMBER(output_dir)),
      Key("output.report_dir", Type::kText, "", nullptr, "", "where the report goes instead of DIR/report", MEMBER(report_dir)),
      Key("output.progress_file", Type::kText, "", nullptr, "", "where progress is written instead", MEMBER(progress_file)),
      Key("output.live", Type::kMeasureList, "", "[]", "",
          "measures of the running trials that are shown beside their return: ep/NAME, eval/NAME, train/NAME", MEMBER(live)),
      Key("plugin_path", Type::kPathList, "", "[]", "plugin_dirs", "folders searched for plugins", MEMBER(plugin_path)),
      Unbound("sweep", Type::kSweep, "many trials from one file"),
      Unbound("phases", Type::kPhases,
              "settings that are trained with one after the other, each from where the one before ended"),
      Key("report.kind", Type::kEnum, ReportKindNames("|"), nullptr, "report_type",
          "what is written when the trials are done", MEMBER(report.kind)),
      Key("report.name", Type::kName, "", nullptr, "", "names its files; default: the kind", MEMBER(report.name)),
      Key("report.baseline", Type::kJson, "", nullptr, "reference",
          "the point that others are compared with: its name or its values", MEMBER(report.baseline)),
      Key("report.balanced.efficiency", Type::kNumber, "(0,1000]", nullptr, "",
          "a setting is balanced from this parallel efficiency on, in percent, or core efficiency where rows exceed cores",
          MEMBER(report.balanced.efficiency)),
      Key("report.balanced.memory", Type::kNumber, "(0,100]", "80", "", "and with at most this peak of memory, in percent",
          MEMBER(report.balanced.memory)),
      Key("report.balanced.device_memory", Type::kNumber, "(0,100]", nullptr, "", "likewise of device memory",
          MEMBER(report.balanced.device_memory)),
      Key("report.balanced.cpu", Type::kNumber, "(0,100]", nullptr, "", "with at most this mean use of the granted cores",
          MEMBER(report.balanced.cpu)),
      Key("report.balanced.gpu", Type::kNumber, "(0,100]", nullptr, "", "likewise of the GPUs", MEMBER(report.balanced.gpu)),
      Key("report.timing", Type::kFlag, "", "false", "", "a comparison that compares times", MEMBER(report.timing)),
      Key("report.precision", Type::kPercent, "(0,100]", nullptr, "",
          "a trial of kind parallel_efficiency goes on until the 95 % interval over its iterations is within so much of its "
          "speed; default: 5% without a budget, else off",
          MEMBER(report.precision_pct)),
      Key("report.max_time", Type::kDuration, "(0,)", nullptr, "",
          "and for no longer than so long a point, its seeds together; default: 20s", MEMBER(report.max_time_s)),
      Key("report.columns", Type::kJson, "", nullptr, "", "metrics, or expressions of metrics, of its table",
          MEMBER(report.columns)),
      Key("report.figures", Type::kJson, "", nullptr, "plots", "its figures", MEMBER(report.figures)),
      Key("report.notes", Type::kJson, "", nullptr, "", "sentences that stand among the report's limits", MEMBER(report.notes)),
      Key("report.select", Type::kJson, "", nullptr, "", "the metric that decides, and where the best settings are written",
          MEMBER(report.select)),
      Key("on_failure.device_oom", Type::kFailurePolicy, "fail|infeasible|shrink|retry", "shrink", "gpu_oom",
          "an attempt ran out of device memory", MEMBER(on_failure.device_oom)),
      Key("on_failure.host_oom", Type::kFailurePolicy, "fail|infeasible|retry", "infeasible", "oom",
          "an attempt ran out of memory", MEMBER(on_failure.host_oom)),
      Key("on_failure.signal", Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 1}", "crash",
          "a signal ended an attempt", MEMBER(on_failure.signal)),
      Key("on_failure.temp", Type::kFailurePolicy, "fail|infeasible|retry", "{retry: 3}", "temporary",
          "an attempt asks for another", MEMBER(on_failure.temp)),
      Key("on_failure.timeout", Type::kFailurePolicy, "fail|infeasible|keep_partial|retry", "keep_partial", "walltime",
          "an attempt took longer than resources.wall_time", MEMBER(on_failure.timeout)),
      Key("on_failure.nan", Type::kFailurePolicy, "fail|infeasible|retry", "fail", "diverged", "a number was not finite",
          MEMBER(on_failure.nan)),
      Key("on_failure.config", Type::kFailurePolicy, "fail|infeasible|retry", "fail", "usage", "a plugin refused its options",
          MEMBER(on_failure.config)),
      Key("on_failure.plugin", Type::kFailurePolicy, "fail|infeasible|retry", "fail", "", "a plugin broke its contract",
          MEMBER(on_failure.plugin)),
      Key("stop_sweep.flapping", Type::kFlapping, "", "3 in 60s", "", "so many failures in so long pause the sweep; 0: never",
          MEMBER(stop_sweep.flapping)),
      Key("stop_sweep.initial_failures", Type::kInteger, "[0,)", "5", "",
          "so many failures before the first success pause the sweep; 0: never", MEMBER(stop_sweep.initial_failures)),
      Key("stop_sweep.max_failed_fraction", Type::kNumber, "[0,1]", "1.0", "",
          "the sweep is paused when more than this part of its trials failed", MEMBER(stop_sweep.max_failed_fraction)),
  };
  return table;
}

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

bool IsSection(const std::string& path) {
  static const std::unordered_set<std::string> sections = [] {
    std::unordered_set<std::string> set;
    for (const HostKey& key : Table()) {
      for (size_t dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1))
        set.insert(key.path.substr(0, dot));
    }
    return set;
  }();
  return sections.contains(path);
}

bool IsFreeForm(const HostKey& key) {
  return key.type == ValueType::kSweep || key.type == ValueType::kPhases || key.type == ValueType::kJson;
}

}  // namespace backplane
