#include "supervise/identity.hpp"

#include <algorithm>

#include "base/files.hpp"

namespace backplane {
namespace {

constexpr size_t kIdDigits = 12;

template <class T>
nlohmann::json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// Hashes of the data files that options name. An option's value stays in the identity too: its path may choose a format.
nlohmann::json DataHashes(const PluginInfo& info, const nlohmann::json& options) {
  nlohmann::json hashes = nlohmann::json::object();
  for (const OptionInfo& option : info.options) {
    const auto value = options.is_object() ? options.find(option.path) : options.end();
    if ((option.flags & BP_PARAM_DATA) == 0 || value == options.end() || !value->is_string()) {
      continue;
    }
    const std::string file = value->get<std::string>();
    if (!file.empty() && std::filesystem::is_regular_file(file)) {
      hashes[option.path] = Sha256OfFile(file);
    }
  }
  return hashes;
}

nlohmann::json PluginIdentity(const PluginInfo& info, const PluginUse& use) {
  return {
      {"id", info.id}, {"options", use.options}, {"file", Sha256OfFile(info.file)}, {"data", DataHashes(info, use.options)}};
}

}  // namespace

nlohmann::json IdentityJson(const LoadedExperiment& loaded) {
  const Experiment& experiment = loaded.experiment;
  const RolloutConfig& rollout = experiment.rollout;
  return {
      {"schema", 1},
      {"seed", experiment.seed},
      {"env", PluginIdentity(loaded.env, experiment.env)},
      {"learner", PluginIdentity(loaded.learner, experiment.learner)},
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
}

std::string TrialId(const nlohmann::json& identity) { return Sha256(identity.dump()).substr(0, kIdDigits); }

}  // namespace backplane
