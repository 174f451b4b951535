#include "supervise/batch_files.hpp"

#include "base/files.hpp"
#include "base/process.hpp"
#include "config/yaml_text.hpp"
#include "store/plan_file.hpp"
#include "supervise/host_info.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

constexpr int kJsonIndent = 1;

nlohmann::json PluginVersions(const LoadedExperiment& loaded) {
  nlohmann::json versions = nlohmann::json::object();
  versions[loaded.env->id] = loaded.env->version;
  versions[loaded.learner->id] = loaded.learner->version;
  for (const auto& monitor : loaded.monitors) versions[monitor->id] = monitor->version;
  return versions;
}

// The experiment with every default, its sweep as a list of the points that are left: the same trials from any folder.
nlohmann::json CompleteConfig(const Plan& plan) {
  nlohmann::json config = ToJson(plan.base.experiment);
  if (!plan.swept) return config;
  nlohmann::json list = nlohmann::json::array();
  for (const PlannedPoint& point : plan.points) {
    nlohmann::json entry = {{"name", point.name}};
    for (const auto& [path, value] : point.values) entry[path] = value;
    list.push_back(std::move(entry));
  }
  config["sweep"] = {{"list", list}};
  if (!plan.seeds.is_null()) config["sweep"]["seeds"] = plan.seeds;
  if (!plan.memory_axes.empty()) config["sweep"]["memory_axes"] = plan.memory_axes;
  return config;
}

}  // namespace

void WriteBatchFiles(const BatchRequest& request) {
  const LoadedExperiment& base = request.plan.base;
  WriteFileAtomic(request.out / "config.yaml", YamlText(CompleteConfig(request.plan), {}));
  WritePlanFile(request.out / "plan.jsonl", PlanLines(request.plan));
  WriteFileAtomic(request.out / "run.json", nlohmann::json{{"schema", kTrialSchema},
                                                           {"host", HostFacts()},
                                                           {"versions",
                                                            {{"backplane", BACKPLANE_VERSION},
                                                             {"compiler", kCompiler},
                                                             {"torch", TorchVersionAt(request.torch_lib)},
                                                             {"plugins", PluginVersions(base)}}},
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
