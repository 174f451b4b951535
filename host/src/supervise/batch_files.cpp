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

}  // namespace

void WriteBatchFiles(const BatchRequest& request) {
  const LoadedExperiment& base = request.plan.base;
  // Complete, so that it gives the same trials again from any folder.
  WriteFileAtomic(request.out / "config.yaml", request.plan.ConfigText());
  WritePlanFile(request.out / "plan.jsonl", request.plan);
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
