#include "supervise/batch_files.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/process.hpp"
#include "config/yaml_text.hpp"
#include "store/plan_file.hpp"
#include "supervise/host_info.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

constexpr int kJsonIndent = 1;

// One experiment of the plan for each pair of env and learner in it, told apart by their files: a plan may have thousands of
// points, and few pairs.
std::vector<LoadedExperiment> DistinctPlugins(const Plan& plan) {
  std::vector<LoadedExperiment> experiments = {plan.base};
  std::set<std::pair<std::string, std::string>> seen;
  for (const PlannedTrial& trial : plan.trials) {
    const auto file = [&](const char* place) {
      const auto found = trial.files.find(place);
      return found != trial.files.end() ? found->second : std::string();
    };
    if (seen.emplace(file("env.plugin"), file("learner.plugin")).second) experiments.push_back(plan.Load(trial));
  }
  return experiments;
}

nlohmann::json PluginVersions(const std::vector<LoadedExperiment>& experiments) {
  nlohmann::json versions = nlohmann::json::object();
  for (const LoadedExperiment& loaded : experiments) {
    versions[loaded.env->id] = loaded.env->version;
    versions[loaded.learner->id] = loaded.learner->version;
    for (const auto& monitor : loaded.monitors) versions[monitor->id] = monitor->version;
  }
  return versions;
}

// Which options help against which finding, as the plugins declare it ("update_bound-": lower it): a report is made from the
// folder alone, when the plugins may be gone.
void AddHelps(const PluginInfo& info, const std::string& section, const std::string& name, nlohmann::json* helps) {
  for (const OptionInfo& option : info.options) {
    for (const std::string& help : option.helps) {
      const char sign = help.empty() ? ' ' : help.back();
      const bool signed_help = sign == '+' || sign == '-';
      helps->push_back({{"finding", signed_help ? help.substr(0, help.size() - 1) : help},
                        {"plugin", section + "." + name},
                        {"path", section + ".options." + option.path},
                        {"direction", sign == '+'   ? 1
                                      : sign == '-' ? -1
                                                    : 0},
                        {"type", OptionTypeName(option.type)},
                        {"range", option.range.value_or("")}});
    }
  }
}

nlohmann::json Helps(const std::vector<LoadedExperiment>& experiments) {
  nlohmann::json helps = nlohmann::json::array();
  std::set<std::pair<std::string, std::string>> told;
  for (const LoadedExperiment& loaded : experiments) {
    const std::string &env = loaded.experiment.env.plugin, &learner = loaded.experiment.learner.plugin;
    if (told.emplace("env", env).second) AddHelps(*loaded.env, "env", env, &helps);
    if (told.emplace("learner", learner).second) AddHelps(*loaded.learner, "learner", learner, &helps);
  }
  return helps;
}

bool ChoosesPlugin(const std::string& path) {
  return path == "env" || path == "learner" || path == "env.plugin" || path == "learner.plugin";
}

// A point whose plugins are not the base's: its options would not fit among the base's, so it brings its own, complete. Only
// what belongs to the identity of every point is written; the rest is swept by its own path or not at all.
nlohmann::json WholePoint(const LoadedExperiment& loaded) {
  const nlohmann::json config = ToJson(loaded.experiment);
  nlohmann::json entry = {{"env", config.at("env")}, {"learner", config.at("learner")}};
  for (const char* section : {"budget", "evaluation"}) {
    for (const auto& [key, value] : config.at(section).items()) {
      if (!value.is_null() && !value.is_object()) entry[std::string(section) + "." + key] = value;
    }
  }
  entry["evaluation.env.options"] = loaded.experiment.evaluation.env_options;
  for (const char* key : {"num_env_runners", "num_envs_per_env_runner", "chunk_rows"}) {
    entry[std::string("rollout.") + key] = config.at("rollout").at(key);
  }
  return entry;
}

// The experiment with every default, its sweep as a list of the points that are left: the same trials from any folder.
nlohmann::json CompleteConfig(const Plan& plan) {
  nlohmann::json config = ToJson(plan.base.experiment);
  if (!plan.swept) return config;
  nlohmann::json list = nlohmann::json::array();
  std::set<size_t> seen;
  for (const PlannedTrial& trial : plan.trials) {
    if (!seen.insert(trial.point).second) continue;
    const PlannedPoint& point = plan.points[trial.point];
    const bool whole = plan.whole_files || std::any_of(point.values.begin(), point.values.end(),
                                                       [](const auto& value) { return ChoosesPlugin(value.first); });
    nlohmann::json entry = whole ? WholePoint(plan.Load(trial)) : nlohmann::json::object();
    entry["name"] = point.name;
    for (const auto& [path, value] : point.values) {
      const bool within = path.starts_with("env.") || path.starts_with("learner.") || ChoosesPlugin(path);
      if (!whole || !within) entry[path] = value;
    }
    list.push_back(std::move(entry));
  }
  config["sweep"] = {{"list", list}};
  if (!plan.seeds.is_null()) config["sweep"]["seeds"] = plan.seeds;
  if (!plan.memory_axes.empty()) config["sweep"]["memory_axes"] = plan.memory_axes;
  return config;
}

}  // namespace

void WriteBatchFiles(const BatchRequest& request) {
  const std::vector<LoadedExperiment> experiments = DistinctPlugins(request.plan);
  WriteFileAtomic(request.out / "config.yaml", YamlText(CompleteConfig(request.plan), {}));
  WritePlanFile(request.out / "plan.jsonl", PlanLines(request.plan));
  WriteFileAtomic(request.out / "run.json", nlohmann::json{{"schema", kTrialSchema},
                                                           {"host", HostFacts()},
                                                           {"devices", DeviceFacts()},
                                                           {"versions",
                                                            {{"backplane", BACKPLANE_VERSION},
                                                             {"compiler", kCompiler},
                                                             {"torch", TorchVersionAt(request.torch_lib)},
                                                             {"plugins", PluginVersions(experiments)}}},
                                                           {"helps", Helps(experiments)},
                                                           {"config_file", request.config_file.string()},
                                                           {"set", request.set},
                                                           {"sweep", request.sweep}}
                                                .dump(kJsonIndent));
}

nlohmann::json SessionFacts(size_t trials) {
  nlohmann::json facts = ToJson(ThisProcess());
  facts["trials"] = trials;
  return facts;
}

}  // namespace backplane
