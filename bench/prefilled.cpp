#include "prefilled.hpp"

namespace backplane::bench {
namespace {

struct Nothing {
  std::vector<bp_channel> out;
  bp_learner_spec spec;
};
const char* const kNone[] = {nullptr};

bp_status Create(const bp_host*, const bp_config*, const bp_env_spec* env, uint64_t, uint64_t, bp_learner** out) {
  auto* learner = new Nothing;
  for (uint64_t i = 0; i < env->n_channels; ++i)
    if (env->channels[i].role == BP_ROLE_ACTION) learner->out.push_back(env->channels[i]);
  learner->spec = {sizeof(bp_learner_spec), 0, kNone, kNone, learner->out.data(), learner->out.size(), 0, 0};
  *out = reinterpret_cast<bp_learner*>(learner);
  return BP_OK;
}
void Destroy(bp_learner* l) { delete reinterpret_cast<Nothing*>(l); }
const bp_learner_spec* Spec(const bp_learner* l) { return &reinterpret_cast<const Nothing*>(l)->spec; }
bp_status Plan(bp_learner*, const bp_limits*, bp_request*) { return BP_OK; }
bp_status Consume(bp_learner*, const bp_delivery*) { return BP_OK; }
bp_status Act(bp_learner*, const bp_act*) { return BP_OK; }

const bp_learner_api kApi{sizeof(bp_learner_api), 0, Create, Destroy, Spec, Plan, Consume, Act, nullptr};
const bp_descriptor kDescriptor{sizeof(bp_descriptor), BP_KIND_LEARNER, "learner.prefilled", "1", "does nothing", "Apache-2.0",
                                BP_FLAG_ROWS_CONCURRENT, nullptr, nullptr, 0};
const bp_module kModule{sizeof(bp_module), BP_ABI_MINOR, 0, 0, "", "{}", nullptr, nullptr, [] { return 1u; },
                        [](uint32_t) { return &kDescriptor; }, [](const char*) -> const void* { return &kApi; }};

}  // namespace

Host::Host(const std::string& file, const std::string& id, nlohmann::json options, uint64_t rows, uint64_t chunk_rows) {
  sinks.cancelled = &cancelled;
  module = LoadedModule::Load(file, "");
  learner_module = LoadedModule::FromTable(kModule);
  env = std::make_unique<EnvInstance>(*module, id, sinks, InstanceOptions{std::move(options), {}, "env.options"}, rows);
  learner = std::make_unique<LearnerInstance>(*learner_module, "learner.prefilled", sinks, InstanceOptions{}, *env, 0);
  collector = std::make_unique<Collector>(*env, *learner, pool, CollectorConfig{chunk_rows, 1}, cancelled, [] {});
}

double Host::Collect(uint64_t horizon) {
  const double before = ThreadCpuSeconds();
  {
    const PhaseSpan span(clocks[0], Phase::kSync);
    collector->Collect(horizon, clocks);
  }
  return ThreadCpuSeconds() - before;
}

void Host::FillActions(uint64_t horizon, uint64_t elements) {
  bp_rng rng{42, 0};
  for (uint64_t t = 0; t < horizon; ++t)
    for (uint64_t i = 0; i < env->rows() * elements; ++i)
      collector->Buffer("action")->at<float>(t, 0)[i] = static_cast<float>(bp_rng_range(&rng, -1, 1));
}

}  // namespace backplane::bench
