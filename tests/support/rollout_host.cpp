#include "support/rollout_host.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>

#include "backplane/actions.hpp"
#include "backplane/ext/snapshot.h"
#include "contract/value.hpp"

namespace backplane::test_support {
namespace {

constexpr uint64_t kActionSeed = 42;

struct Idle {
  std::vector<bp_channel> out;
  bp_learner_spec spec;
  uint64_t agents;
  std::optional<bp::ActionSpace> space;  // with the mask if it draws
};
const char* const kNone[] = {nullptr};
const char* const kMask[] = {"action_mask", nullptr};
uint64_t g_spin = 0;

bp_status Create(const bp_host*, const bp_config*, const bp_env_spec* env, uint64_t, uint64_t, bp_learner** out) {
  auto* learner = new Idle{.agents = env->max_agents};
  for (uint64_t i = 0; i < env->n_channels; ++i)
    if (env->channels[i].role == BP_ROLE_ACTION) learner->out.push_back(env->channels[i]);
  learner->spec = {sizeof(bp_learner_spec), 0, kNone, kNone, learner->out.data(), learner->out.size(), 0, BP_LEARNER_ROW_EXACT};
  *out = reinterpret_cast<bp_learner*>(learner);
  return BP_OK;
}
bp_status CreateMasked(const bp_host* host, const bp_config* config, const bp_env_spec* env, uint64_t rows, uint64_t seed,
                       bp_learner** out) {
  Create(host, config, env, rows, seed, out);
  auto* learner = reinterpret_cast<Idle*>(*out);
  for (uint64_t i = 0; i < env->n_channels; ++i)
    if (env->channels[i].role == BP_ROLE_ACTION_MASK) learner->space.emplace(learner->out.at(0), &env->channels[i]);
  if (!learner->space) return BP_E_UNSUPPORTED;
  learner->spec.act_in = kMask;
  return BP_OK;
}
void Destroy(bp_learner* l) { delete reinterpret_cast<Idle*>(l); }
const bp_learner_spec* Spec(const bp_learner* l) { return &reinterpret_cast<const Idle*>(l)->spec; }
bp_status Plan(bp_learner*, const bp_limits*, bp_request*) { return BP_OK; }
bp_status Consume(bp_learner*, const bp_delivery*) { return BP_OK; }
bp_status Act(bp_learner*, const bp_act* act) {
  for (uint64_t i = g_spin * (act->end - act->begin) / 2; i > 0; --i) asm volatile("");
  return BP_OK;
}
bp_status ActMasked(bp_learner* l, const bp_act* act) {
  const auto& learner = *reinterpret_cast<const Idle*>(l);
  const auto* mask = static_cast<const uint8_t*>(act->in[0]->data);
  auto* out = static_cast<int32_t*>(act->out[0]->data);
  for (uint64_t r = act->begin; r < act->end; ++r) {
    bp_rng rng{bp_seed(act->seed, BP_PURPOSE_ACT, static_cast<uint32_t>(r), act->step), 0};
    for (uint64_t i = r * learner.agents; i < (r + 1) * learner.agents; ++i)
      learner.space->Uniform(&rng, mask + i * act->in[0]->strides[0], out + i);
  }
  return BP_OK;
}

const bp_learner_api kMaskedApi{sizeof(bp_learner_api), 0, CreateMasked, Destroy, Spec, Plan, Consume, ActMasked, nullptr};
const bp_learner_api kApi{sizeof(bp_learner_api), 0, Create, Destroy, Spec, Plan, Consume, Act, nullptr};
const bp_descriptor kDescriptor{sizeof(bp_descriptor), BP_KIND_LEARNER,         "learner.idle", "1",     "does nothing",
                                "Apache-2.0",          BP_FLAG_ROWS_CONCURRENT, nullptr,        nullptr, 0};
const bp_descriptor kMaskedDescriptor{
    sizeof(bp_descriptor), BP_KIND_LEARNER,         "learner.masked", "1",     "draws evenly from the mask",
    "Apache-2.0",          BP_FLAG_ROWS_CONCURRENT, nullptr,          nullptr, 0};
const bp_module kModule{sizeof(bp_module),
                        BP_ABI_MINOR,
                        0,
                        0,
                        "",
                        "{}",
                        nullptr,
                        nullptr,
                        [] { return 2u; },
                        [](uint32_t i) { return i == 0 ? &kDescriptor : &kMaskedDescriptor; },
                        [](const char* id) -> const void* { return id == std::string("learner.idle") ? &kApi : &kMaskedApi; }};

const PluginInfo* FindEnv(Catalog& catalog, const std::string& file) {
  std::string why_not;
  const PluginInfo* info = catalog.Find(BP_KIND_ENV, file, &why_not);
  if (info == nullptr) throw std::runtime_error(why_not);
  return info;
}

// Every option of the plugin with its default or the given value.
nlohmann::json Options(const PluginInfo& info, const nlohmann::json& given) {
  nlohmann::json out = nlohmann::json::object();
  for (const OptionInfo& option : info.options) {
    std::string why_not;
    const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
    const auto value = option.def ? ReadDefault(*option.def, rule, &why_not) : std::nullopt;
    out[option.path] = value ? *value : nlohmann::json(nullptr);
  }
  for (const auto& [path, value] : given.items()) out.at(path) = value;
  return out;
}

}  // namespace

Host::Host(const Setting& setting)
    : setting_(setting),
      info_(FindEnv(catalog_, setting.file)),
      options_(Options(*info_, setting.options)),
      pool_(setting.threads, setting.pin),
      clocks_(setting.threads) {
  g_spin = setting.spin;
  sinks_.cancelled = &cancelled_;
  const bool needs_torch = !info_->build.torch.empty();
  module_ = LoadedModule::Load(setting.file, needs_torch ? PreloadTorch(FindTorchLib()) : "");
  learner_module_ = LoadedModule::FromTable(kModule);
  env_ = std::make_unique<EnvInstance>(*module_, info_->id, sinks_, InstanceOptions{options_, {}, "env.options"}, setting.rows);
  learner_ = std::make_unique<LearnerInstance>(*learner_module_, setting.masked ? "learner.masked" : "learner.idle", sinks_,
                                               InstanceOptions{}, *env_, 0);
  collector_ = std::make_unique<RolloutCollector>(*env_, *learner_, pool_, RolloutCollectorConfig{setting.chunk_rows, kEnvSeed},
                                                  cancelled_, [] {});
  collector_->Prepare(setting.horizon);
  FillActions(0);
}

void Host::Collect() {
  const PhaseSpan span(clocks_[0], Phase::kSync);
  collector_->Collect(setting_.horizon, clocks_);
}

bool Host::Score() {
  const PhaseSpan span(clocks_[0], Phase::kSync);
  if (!scorer_) {
    collector_->ReleaseEnv();
    scorer_ = std::make_unique<CandidateScorer>(*env_, *learner_, pool_, setting_.chunk_rows, kEnvSeed, cancelled_, [] {});
    scorer_->Bind();
  }
  std::vector<uint64_t> seeds;
  for (uint32_t row = 0; row < setting_.rows; ++row) seeds.push_back(bp_seed(kEnvSeed, BP_PURPOSE_ENV_EPISODE, row, 0));
  bp_request request{sizeof(bp_request), BP_REQ_EVALUATE, {}};
  request.u.evaluate = {setting_.rows, 1, 0, setting_.horizon, seeds.data()};
  scorer_->Score(request, clocks_);
  return scorer_->env_steps() == setting_.rows * setting_.horizon;
}

void Host::FillActions(uint64_t first) {
  if (setting_.still) return SetActions(std::vector<std::byte>(Actions().size()));
  for (const bp_channel* c : env_->channels()) {
    if (c->role != BP_ROLE_ACTION) continue;
    ChannelBuffer& buffer = *collector_->Buffer(c->name);
    const bp::ActionSpace space(*c);
    const uint64_t lead = env_->Lead(*c);
    for (uint64_t t = 0; t < setting_.horizon; ++t) {
      bp_rng rng{kActionSeed, (first + t) * lead * buffer.row_elements()};
      for (uint64_t i = 0; i < lead; ++i) space.Uniform(&rng, nullptr, buffer.row(t, i));
    }
  }
}

// Calls function(bytes, n) for the actions of each step.
template <class Function>
void Host::ForEachActionRow(Function&& function) {
  for (const bp_channel* c : env_->channels()) {
    if (c->role != BP_ROLE_ACTION) continue;
    ChannelBuffer& buffer = *collector_->Buffer(c->name);
    for (uint64_t t = 0; t < setting_.horizon; ++t) function(buffer.row(t, 0), env_->Lead(*c) * buffer.row_bytes());
  }
}

std::vector<std::byte> Host::Actions() {
  std::vector<std::byte> out;
  ForEachActionRow([&](const std::byte* from, uint64_t n) { out.insert(out.end(), from, from + n); });
  return out;
}

void Host::SetActions(const std::vector<std::byte>& actions) {
  const std::byte* from = actions.data();
  ForEachActionRow([&](std::byte* to, uint64_t n) { std::memcpy(to, from, n), from += n; });
}

std::vector<char> Host::Snapshot(uint64_t row) {
  const auto* snapshot = env_->Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (snapshot == nullptr) throw std::runtime_error(info_->id + " offers no " BP_ENV_SNAPSHOT_1);
  std::vector<char> out(snapshot->row_bytes(env_->handle()));
  if (const bp_status status = snapshot->get(env_->handle(), row, out.data()); status != BP_OK) env_->Fail(status, "snapshot");
  return out;
}

}  // namespace backplane::test_support
