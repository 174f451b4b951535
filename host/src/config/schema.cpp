#include "config/schema.hpp"

#include <stdexcept>
#include <type_traits>

#include "config/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using Type = ValueType;

json Encode(const HostKey& key, double v) { return key.type == Type::kDuration ? json(FormatDuration(v)) : json(v); }
json Encode(const HostKey& key, uint64_t v) { return key.type == Type::kSize ? json(FormatSize(v)) : json(v); }
json Encode(const HostKey&, bool v) { return v; }
json Encode(const HostKey&, const std::string& v) { return v; }
json Encode(const HostKey&, const std::vector<std::string>& v) { return v; }
json Encode(const HostKey&, const json& v) { return v.is_null() ? json::object() : v; }
json Encode(const HostKey&, const std::vector<PluginUse>& uses) {
  json list = json::array();
  for (const PluginUse& use : uses) {
    list.push_back({{"plugin", use.plugin}, {"options", use.options.is_null() ? json::object() : use.options}});
  }
  return list;
}
template <typename T>
json Encode(const HostKey& key, const std::optional<T>& v) {
  if (v) return Encode(key, *v);
  return key.def ? json(key.def) : json(nullptr);  // absent is what the default says: "auto"
}

[[noreturn]] void Misfit(const HostKey& key, const json& value) {
  throw std::runtime_error(key.path + ": a saved configuration cannot hold " + value.dump() + " here");
}

void Decode(const HostKey& key, const json& j, double* v) {
  std::optional<double> seconds = j.is_string() ? ParseDuration(j.get<std::string>()) : std::nullopt;
  if (key.type == Type::kDuration ? !seconds : !j.is_number()) Misfit(key, j);
  *v = seconds ? *seconds : j.get<double>();
}
void Decode(const HostKey& key, const json& j, uint64_t* v) {
  std::optional<uint64_t> bytes = j.is_string() ? ParseSize(j.get<std::string>()) : std::nullopt;
  bool whole = j.is_number_unsigned() || (j.is_number_integer() && j.get<int64_t>() >= 0);
  if (key.type == Type::kSize ? !bytes : !whole) Misfit(key, j);
  *v = bytes ? *bytes : j.get<uint64_t>();
}
void Decode(const HostKey& key, const json& j, bool* v) {
  if (!j.is_boolean()) Misfit(key, j);
  *v = j.get<bool>();
}
void Decode(const HostKey& key, const json& j, std::string* v) {
  if (!j.is_string()) Misfit(key, j);
  *v = j.get<std::string>();
}
void Decode(const HostKey& key, const json& j, std::vector<std::string>* v) {
  if (!j.is_array()) Misfit(key, j);
  v->resize(j.size());
  for (size_t i = 0; i < j.size(); ++i) Decode(key, j[i], &(*v)[i]);
}
void Decode(const HostKey& key, const json& j, json* v) {
  if (!j.is_object()) Misfit(key, j);
  *v = j;
}
void Decode(const HostKey& key, const json& j, std::vector<PluginUse>* v) {
  if (!j.is_array()) Misfit(key, j);
  for (const json& item : j) {
    if (!item.is_object() || item.size() != 2 || !item.contains("plugin") || !item.contains("options")) Misfit(key, item);
    PluginUse use;
    Decode(key, item["plugin"], &use.plugin);
    Decode(key, item["options"], &use.options);
    v->push_back(use);
  }
}
template <typename T>
void Decode(const HostKey& key, const json& j, std::optional<T>* v) {
  v->reset();
  if (!j.is_null() && !(key.def && j == key.def)) Decode(key, j, &v->emplace());
}

// A row of the table. `Member` is a lambda from an Experiment to the member that the key fills.
template <typename Member>
HostKey Key(const char* path, Type type, const char* range, const char* def, const char* other_names, const char* doc, Member) {
  HostKey key{path, type, range, def, /*required=*/false, other_names, doc};
  key.get = [](const HostKey& k, const Experiment& e) { return Encode(k, Member{}(e)); };
  key.set = [](const HostKey& k, const json& j, Experiment* e) { Decode(k, j, &Member{}(*e)); };
  return key;
}

HostKey Required(HostKey key) {
  key.required = true;
  return key;
}

HostKey NotEnforced(HostKey key) {
  key.not_enforced = true;
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
      Key("seed", Type::kInteger, "[0,)", "0", "random_seed", "seed of every random number of the trial", MEMBER(seed)),
      Required(Key("env.plugin", Type::kPluginName, "", nullptr, "env_name,env_id", "the environment", MEMBER(env.plugin))),
      Key("env.options", Type::kPluginOptions, "", nullptr, "env_config,env_kwargs", "its options", MEMBER(env.options)),
      Required(
          Key("learner.plugin", Type::kPluginName, "", nullptr, "algo,algorithm,agent", "the learner", MEMBER(learner.plugin))),
      Key("learner.options", Type::kPluginOptions, "", nullptr, "hyperparameters", "its options", MEMBER(learner.options)),
      Key("monitors", Type::kMonitors, "", nullptr, "callbacks,loggers", "plugins that listen to the trial", MEMBER(monitors)),
      Key("rollout.num_env_runners", Type::kInteger, "[1,)", "1", "num_rollout_workers,num_workers,num_runners",
          "blocks of rows", MEMBER(rollout.num_env_runners)),
      Key("rollout.num_envs_per_env_runner", Type::kInteger, "[1,)", "1", "num_envs_per_worker,num_envs,n_envs",
          "rows of a block", MEMBER(rollout.num_envs_per_env_runner)),
      Key("rollout.threads", Type::kInteger, "auto|[1,)", "auto", "num_threads,n_jobs",
          "threads that run the blocks and share the learner's work; changes speed, never results", MEMBER(rollout.threads)),
      Key("rollout.pin_threads", Type::kFlag, "", "false", "thread_affinity,cpu_affinity",
          "each thread keeps to a core of its own; for a machine that does nothing else; changes speed, never results",
          MEMBER(rollout.pin_threads)),
      Key("rollout.chunk_rows", Type::kInteger, "auto|[1,)", "auto", "chunk_size",
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
      Key("evaluation.episodes", Type::kInteger, "[0,)", "0", "evaluation_duration,n_eval_episodes",
          "0: no evaluation; the last one is repeated with zero and with uniform actions", MEMBER(evaluation.episodes)),
      Key("evaluation.env.options", Type::kPluginOptions, "", nullptr, "evaluation_config",
          "options of the environment that differ in evaluation", MEMBER(evaluation.env_options)),
      Key("checkpoint.every_iterations", Type::kInteger, "[0,)", "0", "checkpoint_frequency,save_freq,save_steps",
          "0: only at the end", MEMBER(checkpoint_every_iterations)),
      NotEnforced(Key("resources.cpus", Type::kInteger, "auto|[1,)", "auto", "num_cpus", "processor cores granted to the trial",
                      MEMBER(resources.cpus))),
      NotEnforced(Key("resources.gpus", Type::kNumber, "[0,)", "0", "num_gpus,num_gpus_per_learner",
                      "devices, or a part of one", MEMBER(resources.gpus))),
      NotEnforced(Key("resources.memory", Type::kSize, "(0,)", nullptr, "max_memory", "the trial is ended beyond it",
                      MEMBER(resources.memory_bytes))),
      NotEnforced(Key("resources.device_memory", Type::kSize, "(0,)", nullptr, "memory_budget_mb,gpu_memory",
                      "device memory the trial may take", MEMBER(resources.device_memory_bytes))),
      Key("resources.wall_time", Type::kDuration, "(0,)", nullptr, "", "the trial is ended as failed after so long",
          MEMBER(resources.wall_time_s)),
      Key("resources.hang_timeout", Type::kDuration, "(0,)", "300s", "", "a trial without a sign of life for so long is ended",
          MEMBER(resources.hang_timeout_s)),
      NotEnforced(Key("resources.exclusive", Type::kFlag, "", "false", "",
                      "nothing else of ours runs on the trial's cores and device", MEMBER(resources.exclusive))),
      Key("output.dir", Type::kText, "", "outputs/<experiment>", "output_dir,logdir,log_dir,save_dir", "the results folder",
          MEMBER(output_dir)),
      NotEnforced(Key("output.report_dir", Type::kText, "", nullptr, "", "where reports go instead", MEMBER(report_dir))),
      NotEnforced(Key("output.progress_file", Type::kText, "", nullptr, "", "where progress is written instead",
                      MEMBER(progress_file))),
      Key("plugin_path", Type::kPathList, "", "[]", "plugin_dirs", "folders searched for plugins", MEMBER(plugin_path)),
      Unbound("sweep", Type::kLater, "many trials from one file"),
      Unbound("report", Type::kLater, "what is written when the trials are done"),
      Unbound("on_failure", Type::kLater, "what follows a failed attempt"),
  };
  return table;
}

#undef MEMBER

}  // namespace

std::span<const HostKey> HostKeys() { return Table(); }

const HostKey* FindHostKey(const std::string& path) {
  for (const HostKey& key : Table()) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

bool IsSection(const std::string& path) {
  for (const HostKey& key : Table()) {
    if (key.path.starts_with(path + ".")) return true;
  }
  return false;
}

}  // namespace backplane
