#include "toy_plugins.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "backplane/ext/snapshot.h"

namespace backplane::toy {

Switches g_switches;

namespace {

constexpr int64_t kThree[] = {3}, kOne[] = {1};
constexpr double kLow[] = {-2}, kHigh[] = {2};
constexpr bp_dtype kF32{BP_DTYPE_FLOAT, 32, 1}, kU8{BP_DTYPE_UINT, 8, 1};

bp_channel Channel(uint16_t role, const char* name, bp_dtype dtype, uint16_t ndim = 0, const int64_t* shape = nullptr) {
  bp_channel c{};
  c.struct_size = sizeof c;
  c.role = role;
  c.space = BP_SPACE_BOX;
  c.scope = BP_SCOPE_ROW;
  c.ndim = ndim;
  c.dtype = dtype;
  c.name = name;
  c.shape = shape;
  return c;
}

struct Row {
  bp_rng rng;
  float noise;
  int64_t steps;
  bool ended;
};

struct ToyEnv {
  const bp_host* host;
  bool rows_alike;
  bp_channel channels[6];
  bp_env_spec spec;
  std::vector<Row> rows;
  const bp_frame* frames;
  bool endless = false, whole = false;
};
ToyEnv* Of(bp_env* env) { return reinterpret_cast<ToyEnv*>(env); }

template <class T>
T* At(const bp_frame& frame, int channel, uint64_t row) {
  const bp_tensor* t = frame.tensors[channel];
  return static_cast<T*>(t->data) + row * static_cast<uint64_t>(t->strides[0]);
}

bp_status CreateEnv(const bp_host* host, const bp_config*, uint64_t rows, bp_env** out) {
  auto* env = new ToyEnv{host, g_switches.rows_alike, {}, {}, std::vector<Row>(rows), nullptr};
  env->channels[0] = Channel(BP_ROLE_OBS, "obs", kF32, 1, kThree);
  env->channels[1] = Channel(BP_ROLE_ACTION, "action", kF32, 1, kOne);
  env->channels[1].low = kLow;
  env->channels[1].high = kHigh;
  env->channels[1].n_bounds = 1;
  env->channels[2] = Channel(BP_ROLE_REWARD, "reward", kF32);
  env->channels[3] = Channel(BP_ROLE_TERMINATED, "terminated", kU8);
  env->channels[4] = Channel(BP_ROLE_INFO, "ep/steps", kF32);
  env->channels[5] = Channel(BP_ROLE_TRUNCATED, "truncated", kU8);
  if (g_switches.edit) g_switches.edit(env->channels);
  const bool cuts = g_switches.owns_time_limit, own = cuts || g_switches.endless;
  env->endless = g_switches.endless;
  env->whole = g_switches.whole;
  env->spec = {sizeof(bp_env_spec), 1, env->channels, cuts ? 6u : 5u, own ? g_switches.declares : kTimeLimit,
               {BP_DEVICE_CPU, 0}};
  *out = reinterpret_cast<bp_env*>(env);
  return BP_OK;
}
void DestroyEnv(bp_env* env) { delete Of(env); }
const bp_env_spec* EnvSpec(const bp_env* env) { return &reinterpret_cast<const ToyEnv*>(env)->spec; }
bp_status Bind(bp_env* env, const bp_frame* frames, uint64_t) {
  Of(env)->frames = frames;
  return BP_OK;
}
void WriteObs(const bp_frame& frame, uint64_t r, const Row& row, bool rows_alike) {
  float* obs = At<float>(frame, 0, r);
  obs[0] = rows_alike ? 0 : static_cast<float>(r);
  obs[1] = static_cast<float>(row.steps);
  const bool broken = g_switches.nan_from && row.steps >= *g_switches.nan_from;
  obs[2] = broken ? std::numeric_limits<float>::quiet_NaN() : row.noise;
}
bool IsPart(const ToyEnv* env, uint64_t begin, uint64_t end) { return env->whole && (begin != 0 || end != env->rows.size()); }
bp_status Reset(bp_env* e, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
  ToyEnv* env = Of(e);
  if (IsPart(env, begin, end)) return env->host->fail(env->host, BP_E_INTERNAL, "a reset of some rows");
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    Row& row = env->rows[r];
    row = {{seeds[r], 0}, 0, 0, false};
    row.noise = static_cast<float>(bp_rng_uniform(&row.rng));
    WriteObs(env->frames[slot], r, row, env->rows_alike);
  }
  return BP_OK;
}
bp_status Step(bp_env* e, uint32_t slot, uint64_t begin, uint64_t end) {
  ToyEnv* env = Of(e);
  if (g_switches.on_step) g_switches.on_step();
  if (IsPart(env, begin, end)) return env->host->fail(env->host, BP_E_INTERNAL, "a step of some rows");
  for (uint64_t r = begin; r < end; ++r) {
    if (static_cast<int>(r) == g_switches.fail_step) return env->host->fail(env->host, BP_E_INTERNAL, "the toy broke");
    Row& row = env->rows[r];
    if (row.ended) return env->host->fail(env->host, BP_E_INTERNAL, "a row was stepped past its end");
    const bp_frame& frame = env->frames[slot];
    ++row.steps;
    *At<float>(frame, 2, r) =
        static_cast<int>(r) == g_switches.nan_row ? std::numeric_limits<float>::quiet_NaN() : *At<float>(frame, 1, r);
    *At<uint8_t>(frame, 3, r) = row.ended = bp_rng_below(&row.rng, 8) == 0 && !env->endless;
    const bool at_limit = row.steps >= OwnLimit(r) && !env->endless;
    if (env->spec.n_channels == 6) row.ended |= *At<uint8_t>(frame, 5, r) = at_limit ? g_switches.cut_flag : 0;
    *At<float>(frame, 4, r) = static_cast<float>(row.steps);
    WriteObs(frame, r, row, env->rows_alike);
    if (g_switches.nan_steps) At<float>(frame, 0, r)[1] = std::numeric_limits<float>::quiet_NaN();
    if (const auto& nan = g_switches.nan_obs; nan && nan->row == r && nan->slot == slot)
      At<float>(frame, 0, r)[nan->element] = std::numeric_limits<float>::quiet_NaN();
  }
  return BP_OK;
}

uint64_t RowBytes(const bp_env*) { return sizeof(Row); }
bp_status GetRow(bp_env* env, uint64_t row, void* out) {
  const Row& from = Of(env)->rows[row];
  std::memset(out, 0, sizeof(Row));  // also its padding
  auto* to = static_cast<std::byte*>(out);
  std::memcpy(to + offsetof(Row, rng), &from.rng, sizeof from.rng);
  std::memcpy(to + offsetof(Row, noise), &from.noise, sizeof from.noise);
  std::memcpy(to + offsetof(Row, steps), &from.steps, sizeof from.steps);
  std::memcpy(to + offsetof(Row, ended), &from.ended, sizeof from.ended);
  return BP_OK;
}
bp_status SetRow(bp_env* env, uint64_t row, const void* data) {
  std::memcpy(&Of(env)->rows[row], data, sizeof(Row));
  return BP_OK;
}
const void* EnvExtension(const bp_env*, const char* id) {
  static constexpr bp_env_snapshot_1 snapshot{sizeof(bp_env_snapshot_1), 0, RowBytes, GetRow, SetRow};
  static constexpr bp_env_batch_1 batch = {sizeof(bp_env_batch_1), 0,
                                           [](const bp_env* e) { return int32_t{reinterpret_cast<const ToyEnv*>(e)->whole}; }};
  if (std::strcmp(id, BP_ENV_BATCH_1) == 0) return &batch;
  return std::strcmp(id, BP_ENV_SNAPSHOT_1) == 0 ? &snapshot : nullptr;
}

struct ToyLearner {
  bool row_exact, carries;
  bp_channel out[3];
  bp_learner_spec spec;
};
const char* const kIn[] = {"obs", nullptr};
const char* const kCarryIn[] = {"obs", "count", nullptr};
const char* g_keep[] = {"obs", "action", "twice", "reward", "terminated", "truncated", nullptr, nullptr, nullptr};

bp_status CreateLearner(const bp_host*, const bp_config*, const bp_env_spec*, uint64_t, uint64_t, bp_learner** out) {
  auto* learner = new ToyLearner;
  learner->out[0] = Channel(BP_ROLE_ACTION, "action", kF32, 1, kOne);
  learner->out[1] = Channel(BP_ROLE_EXTRA, "twice", kF32);
  learner->carries = g_switches.carries;
  learner->out[2] = Channel(BP_ROLE_CARRY, "count", {BP_DTYPE_INT, 32, 1});
  g_keep[6] = learner->carries ? "count" : g_switches.keep;
  g_keep[7] = learner->carries ? g_switches.keep : nullptr;
  learner->spec = {
      sizeof(bp_learner_spec), 0, learner->carries ? kCarryIn : kIn, g_keep, learner->out, learner->carries ? 3u : 2u, 0,
      BP_LEARNER_OBS_MOMENTS};
  learner->row_exact = g_switches.row_exact;
  if (learner->row_exact) learner->spec.flags |= BP_LEARNER_ROW_EXACT;
  *out = reinterpret_cast<bp_learner*>(learner);
  return BP_OK;
}
void DestroyLearner(bp_learner* l) { delete reinterpret_cast<ToyLearner*>(l); }
const bp_learner_spec* LearnerSpec(const bp_learner* l) { return &reinterpret_cast<const ToyLearner*>(l)->spec; }
bp_status Plan(bp_learner*, const bp_limits*, bp_request* out) {
  out->kind = BP_REQ_DONE;
  return BP_OK;
}
bp_status Consume(bp_learner*, const bp_delivery*) { return BP_OK; }
bp_status Act(bp_learner* l, const bp_act* act) {
  const auto* learner = reinterpret_cast<const ToyLearner*>(l);
  if (g_switches.on_act) g_switches.on_act(*act);
  for (uint64_t r = act->begin; r < act->end; ++r) {
    const float* obs = static_cast<const float*>(act->in[0]->data) + r * 3;
    bp_rng rng{bp_seed(act->seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act->row_base + r), act->step), 0};
    const float noise = act->flags & BP_ACT_GREEDY ? 0.0f : static_cast<float>(bp_rng_normal(&rng));
    const bool evaluated = act->candidate != nullptr;
    float action = 0.5f * (evaluated ? static_cast<float>(act->candidate[r] + 1) : 1.0f) * obs[2] + noise;
    if (evaluated && !learner->row_exact) action += 1e-3f * static_cast<float>(act->end - act->begin);
    if (learner->carries) {
      const int32_t count = static_cast<const int32_t*>(act->in[1]->data)[r];
      static_cast<int32_t*>(act->out[2]->data)[r] = count + 1;
      if (act->flags & BP_ACT_GREEDY) action = static_cast<float>(count);
    }
    static_cast<float*>(act->out[0]->data)[r] = action;
    static_cast<float*>(act->out[1]->data)[r] = 2 * action;
  }
  return BP_OK;
}

const bp_env_api kEnvApi{sizeof(bp_env_api), 0, CreateEnv, DestroyEnv, EnvSpec, Bind, Reset, Step, EnvExtension};
const bp_learner_api kLearnerApi{
    sizeof(bp_learner_api), 0, CreateLearner, DestroyLearner, LearnerSpec, Plan, Consume, Act, nullptr};
const bp_descriptor* EnvDescriptor() {
  static bp_descriptor descriptor;
  const uint64_t flags =
      (g_switches.whole ? 0 : BP_FLAG_ROWS_CONCURRENT) | (g_switches.owns_time_limit ? BP_FLAG_OWNS_TIME_LIMIT : 0);
  descriptor = {sizeof(bp_descriptor), BP_KIND_ENV, "env.toy", "1", "a toy", "Apache-2.0", flags, nullptr, nullptr, 0};
  return &descriptor;
}
const bp_descriptor kLearnerDescriptor = {sizeof(bp_descriptor), BP_KIND_LEARNER,         "learner.toy", "1",     "a toy",
                                          "Apache-2.0",          BP_FLAG_ROWS_CONCURRENT, nullptr,       nullptr, 0};

}  // namespace

const bp_module& Module() {
  static const bp_module module{sizeof(bp_module),
                                BP_ABI_MINOR,
                                0,
                                0,
                                "",
                                "{}",
                                nullptr,
                                nullptr,
                                [] { return 2u; },
                                [](uint32_t i) { return i == 0   ? EnvDescriptor()
                                                        : i == 1 ? &kLearnerDescriptor
                                                                 : nullptr; },
                                [](const char* id) -> const void* {
                                  if (std::strcmp(id, "env.toy") == 0) return &kEnvApi;
                                  return std::strcmp(id, "learner.toy") == 0 ? static_cast<const void*>(&kLearnerApi) : nullptr;
                                }};
  return module;
}

ToyTrial::ToyTrial(uint64_t rows, unsigned threads, uint64_t chunk_rows, uint64_t seed, SharedMemory* shared)
    : clocks(threads) {
  g_switches.fail_step = -1;
  g_switches.nan_row = -1;
  g_switches.nan_obs.reset();
  g_switches.nan_from.reset();
  g_switches.on_act = nullptr;
  g_switches.on_step = nullptr;
  sinks.cancelled = &cancelled;
  module = LoadedModule::FromTable(Module());
  const InstanceOptions none{nlohmann::json::object(), {}, ""};
  env = std::make_unique<EnvInstance>(*module, "env.toy", sinks, none, rows);
  learner = std::make_unique<LearnerInstance>(*module, "learner.toy", sinks, none, *env, seed);
  pool = std::make_unique<RunnerPool>(threads);
  collector = std::make_unique<RolloutCollector>(*env, *learner, *pool, RolloutCollectorConfig{chunk_rows, seed, 0, shared},
                                                 cancelled, [this] { ++beats; });
}

bool ToyTrial::Collect(uint64_t horizon) {
  const PhaseSpan span(clocks[0], Phase::kSync);
  return collector->Collect(horizon, clocks);
}

}  // namespace backplane::toy
