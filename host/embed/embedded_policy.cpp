#include "embed/embedded_policy.hpp"

#include "backplane/ext/policy.h"
#include "backplane/ext/state.h"
#include "embed/open_env.hpp"
#include "plugin/catalog.hpp"
#include "plugin/host_named.hpp"
#include "record/find_trial.hpp"
#include "record/results_folder.hpp"
#include "trial/named_checkpoint.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

TrialSpec SpecOf(const fs::path& out, const std::string& trial) {
  const std::string id = FindTrial(out, trial, PlanLinesOf(out));
  TrialSpec spec = ReadTrialSpec(ResultsFolder{out}.trial(id).trial_json());
  if (spec.experiment.HasCommand())
    throw TrialFailure(BP_E_UNSUPPORTED, "", "trial " + id + ": learner: expected a plugin, got a command");
  spec.checkpoint_dir = ResultsFolder{out}.trial(id).checkpoint();  // the folder may have moved
  return spec;
}

PluginInfo InfoOf(uint32_t kind, const TrialPlugin& plugin) {
  Catalog catalog;
  std::string why_not;
  const PluginInfo* const info = catalog.Find(kind, plugin.file.string(), &why_not);
  if (info == nullptr) throw PluginError(why_not);
  if (const std::string why = WhyNotHere(*info); !why.empty()) throw TrialFailure(BP_E_UNSUPPORTED, "", why);
  return *info;
}

InstanceOptions OptionsOf(const TrialSpec& spec, const PluginInfo& info, nlohmann::json options, const char* section) {
  AddHostNamed(info, ToJson(spec.experiment), &options);
  return {std::move(options), spec.origin, section};
}

template <class Table>
void LoadPart(LearnerInstance& learner, const char* extension, const std::vector<std::byte>& saved) {
  const auto* const table = learner.Extension<Table>(extension);
  if (table == nullptr) throw TrialFailure(BP_E_UNSUPPORTED, learner.id(), "saves no state, so it has no checkpoint");
  const StateReader reader(saved);
  learner.Call("load", [&](bp_learner* handle) { return table->load(handle, reader.get()); });
  reader.CheckAllIsRead(learner.id());
}

void LoadState(LearnerInstance& learner, const Checkpoint& checkpoint) {
  if (const auto policy = checkpoint.parts.find(kPolicyPart); policy != checkpoint.parts.end())
    return LoadPart<bp_learner_policy_1>(learner, BP_LEARNER_POLICY_1, policy->second);
  LoadPart<bp_learner_state_1>(learner, BP_LEARNER_STATE_1, PartOf(checkpoint, kLearnerPart));
}

}  // namespace

EmbeddedPolicy::EmbeddedPolicy(const fs::path& out, const std::string& trial, const std::string& checkpoint, uint64_t rows)
    : spec_(SpecOf(out, trial)),
      env_info_(InfoOf(BP_KIND_ENV, spec_.env)),
      learner_info_(InfoOf(BP_KIND_LEARNER, spec_.learner)),
      env_module_(LoadedModule::Load(env_info_.file, /*torch_version=*/"")),
      learner_module_(LoadedModule::Load(learner_info_.file, /*torch_version=*/"")),
      chain_(MakeChain(rows)),
      env_(*chain_),
      learner_(*learner_module_, learner_info_.id, sinks_,
               OptionsOf(spec_, learner_info_, spec_.experiment.learner.options, "learner.options"), env_,
               spec_.experiment.seed),
      buffers_(env_, learner_, [](const bp_channel&) { return false; }) {
  LoadState(learner_, ReadNamedCheckpoint(spec_.checkpoint_dir, spec_.trial_id, checkpoint));
  buffers_.Bind();
}

std::unique_ptr<EnvInstance> EmbeddedPolicy::MakeChain(uint64_t rows) {
  auto env = std::make_unique<EnvInstance>(*env_module_, env_info_.id, sinks_,
                                           OptionsOf(spec_, env_info_, spec_.experiment.env.options, "env.options"), rows);
  for (size_t i = 0; i < spec_.wrappers.size(); ++i) {
    const PluginInfo info = InfoOf(BP_KIND_ENV, spec_.wrappers[i]);
    const std::string section = "env.wrappers." + std::to_string(i) + ".options";
    wrapper_modules_.push_back(LoadedModule::Load(info.file, /*torch_version=*/""));
    env = std::make_unique<EnvInstance>(*wrapper_modules_.back(), info.id, sinks_,
                                        OptionsOf(spec_, info, spec_.experiment.wrappers[i].options, section.c_str()), rows,
                                        std::move(env));
  }
  return env;
}

ChannelBuffer& EmbeddedPolicy::Channel(const std::string& name) {
  std::string names;
  for (const bp_channel* c : env_.channels()) {
    if (c->name == name) return buffers_[name];
    names += (names.empty() ? "" : ", ") + std::string(c->name);
  }
  throw TrialFailure(BP_E_INVALID_ARG, "", "expected one of the channels " + names + ", got '" + name + "'");
}

void EmbeddedPolicy::Act() {
  const bp_act act{sizeof(bp_act),    BP_ACT_GREEDY,      0,       env_.rows(), 0, spec_.experiment.seed, step_++,
                   buffers_.act_in(), buffers_.act_out(), nullptr, nullptr};
  if (const bp_status status = learner_.Act(act); status != BP_OK) learner_.Fail(status, "act");
  buffers_.Advance(0, env_.rows());
}

void EmbeddedPolicy::Reset(const uint8_t* mask) {
  for (uint64_t row = 0; row < env_.rows(); ++row)
    if (mask == nullptr || mask[row] != 0) buffers_.Forget(row, row + 1);
}

}  // namespace backplane
