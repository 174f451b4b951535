#include "sweep/identity.hpp"

#include "base/files.hpp"
#include "config/schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kIdDigits = 16;
constexpr int kSchema = 2;

template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

bool IsLeftOut(const std::string& key) {
  return key == "monitors" || key.starts_with("resources.") || key.starts_with("checkpoint.") || key == "rollout.threads" ||
         key == "rollout.pin_threads" || key == "env.plugin" || key == "learner.plugin";
}

json PluginIdentity(const PluginInfo& info, const PluginUse& use) { return {{"id", info.id}, {"options", use.options}}; }

bool IsPluginFile(const std::string& key, const json& value) {
  return !key.ends_with(".plugin") || value.get<std::string>().find('/') != std::string::npos;
}

}  // namespace

const std::string& FileHashes::Hash(const std::filesystem::path& file) {
  auto found = known_.find(file);
  return found != known_.end() ? found->second : known_.emplace(file, Sha256OfFile(file)).first->second;
}

void FileHashes::AddData(const PluginInfo& info, const json& options, const std::string& prefix,
                         std::map<std::string, std::string>* hashes) {
  for (const OptionInfo& option : info.options) {
    if ((option.flags & BP_PARAM_DATA) == 0 || !options.is_object()) continue;
    const auto value = options.find(option.path);
    if (value == options.end() || !value->is_string()) continue;
    const std::string file = value->get<std::string>();
    if (known_.contains(file) || std::filesystem::is_regular_file(file)) hashes->emplace(prefix + option.path, Hash(file));
  }
}

std::map<std::string, std::string> FileHashes::Of(const LoadedExperiment& loaded) {
  std::map<std::string, std::string> hashes;
  hashes["env.plugin"] = Hash(loaded.env->file);
  hashes["learner.plugin"] = Hash(loaded.learner->file);
  const Experiment& experiment = loaded.experiment;
  AddData(*loaded.env, experiment.env.options, "env.options.", &hashes);
  AddData(*loaded.env, experiment.evaluation.env_options, "evaluation.env.options.", &hashes);
  AddData(*loaded.learner, experiment.learner.options, "learner.options.", &hashes);
  return hashes;
}

std::set<std::string> LeftOutKeys(const std::string& path) {
  std::set<std::string> keys;
  for (const HostKey& key : HostKeys()) {
    const bool touches = key.path == path || key.path.starts_with(path + ".") || path.starts_with(key.path + ".");
    if (touches && IsLeftOut(key.path)) keys.insert(key.path);
  }
  return keys;
}

json PointIdentity(const LoadedExperiment& loaded, const std::map<std::string, json>& swept) {
  const Experiment& experiment = loaded.experiment;
  const RolloutConfig& rollout = experiment.rollout;
  json identity = {
      {"schema", kSchema},
      {"device", experiment.resources.gpus > 0 ? "cuda" : "cpu"},
      {"env", PluginIdentity(*loaded.env, experiment.env)},
      {"learner", PluginIdentity(*loaded.learner, experiment.learner)},
      {"rollout",
       {{"num_env_runners", rollout.num_env_runners},
        {"num_envs_per_env_runner", rollout.num_envs_per_env_runner},
        // "auto" is resolved, so that writing the default out does not make another trial.
        {"chunk_rows", rollout.ChunkRows()}}},
      {"budget",
       {{"iterations", OrNull(experiment.budget.iterations)},
        {"env_steps", OrNull(experiment.budget.env_steps)},
        {"epochs", OrNull(experiment.budget.epochs)},
        {"wall_time_s", OrNull(experiment.budget.wall_time_s)}}},
      {"evaluation",
       {{"every_iterations", experiment.evaluation.every_iterations},
        {"episodes", experiment.evaluation.episodes},
        {"env_options", experiment.evaluation.env_options}}},
  };
  for (const auto& [key, value] : swept) {
    if (IsPluginFile(key, value)) identity["swept"][key] = value;
  }
  return identity;
}

json TrialIdentity(json point, uint64_t seed, const std::map<std::string, std::string>& files) {
  return {{"point", std::move(point)}, {"seed", seed}, {"files", files}};
}

std::string IdOf(const json& identity) { return Sha256(identity.dump()).substr(0, kIdDigits); }

}  // namespace backplane
