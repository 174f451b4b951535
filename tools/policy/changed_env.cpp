#include "policy/changed_env.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "input/load_file.hpp"

namespace backplane {
namespace {

constexpr char kOptions[] = "env.options.";

// The trial's experiment as a file, with the training's evaluation options merged into env.options. Contains only the
// sections that options of env and learner depend on.
nlohmann::json FileOf(const OneTrial& trial, const std::string& env) {
  Experiment experiment = trial.spec.experiment;
  if (experiment.evaluation.env_options.is_object()) experiment.env.options.update(experiment.evaluation.env_options);
  experiment.evaluation.env_options = nlohmann::json::object();
  experiment.monitors.clear();
  experiment.report = {};
  experiment.preset.reset();
  experiment.env.plugin = env.empty() ? trial.spec.env.file.string() : env;
  if (!env.empty()) experiment.env.options = nlohmann::json::object();
  experiment.learner.plugin = trial.spec.learner.file.string();
  return ToJson(experiment);
}

void AddDifferences(const nlohmann::json& training, EvaluationEnv* env) {
  for (const auto& [name, value] : env->options.items()) {
    const auto before = training.find(name);
    if (before == training.end() || *before != value)
      env->differences.push_back(
          fmt::format("{}{}: {} -> {}", kOptions, name, before == training.end() ? "absent" : before->dump(), value.dump()));
  }
}

}  // namespace

std::string ErrorOf(const EnvChange& change) {
  for (const std::string& set : change.set)
    if (!set.starts_with(kOptions) || set.find('=') == set.npos)
      return "--set: expected env.options.NAME=VALUE, got '" + set + "'";
  return "";
}

EvaluationEnv ChangeEnv(const OneTrial& trial, const EnvChange& change) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "evaluation.yaml";
  WriteFileAtomic(file, FileOf(trial, change.env).dump(1));
  PluginSearch search(change.plugin_path);
  const LoadResult result = LoadExperiment(file, {change.set, search.Lookup()});
  if (!result.loaded) {
    PrintErrors(result.errors);
    throw ChangeError("the trial's env does not accept the changes, so no episode was played");
  }
  EvaluationEnv env;
  env.options = result.loaded->experiment.env.options;
  const PluginInfo& plugin = *result.loaded->env;
  if (plugin.file != trial.spec.env.file) {
    env.plugin = TrialPlugin{plugin.file, plugin.id};
    env.differences.push_back(fmt::format("env.plugin: {} -> {}", trial.spec.env.id, plugin.id));
  }
  if (!env.plugin) AddDifferences(trial.spec.experiment.env.options, &env);
  return env;
}

}  // namespace backplane
