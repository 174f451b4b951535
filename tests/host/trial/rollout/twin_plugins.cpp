#include "twin_plugins.hpp"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

#include "backplane/env.hpp"

namespace backplane::twin {

std::atomic<Phase> g_waited_in{Phase::kIdle};
std::atomic<int> g_foreseen{0};
Switches g_switches;
Faults g_faults;

namespace {

constexpr uint32_t kAgents = 2;
constexpr int64_t kObs = 4, kState = 2;
constexpr uint64_t kPage = 4096;

std::map<void*, uint64_t> g_blocks;  // address -> bytes, in whole pages
int g_open = 0;

void Protect(int protection) {
  for (const auto& [block, bytes] : g_blocks) mprotect(block, bytes, protection);
}

struct Row {
  bp_rng rng;
  float noise, sum;
  int64_t steps;
};

class KnowsSeeds {
 public:
  explicit KnowsSeeds(uint64_t rows) : n_rows_(rows), used_(rows, 0) {}
  void NextSeeds(uint64_t per_row, const uint64_t* seeds) {
    per_row_ = per_row;
    next_seeds_.assign(seeds, seeds + n_rows_ * per_row);
    used_.assign(n_rows_, 0);
  }

 protected:
  uint64_t NextSeed(uint64_t row) {
    if (used_[row] == per_row_) throw bp::Error(BP_E_INTERNAL, "no seed is left");
    return next_seeds_[row * per_row_ + used_[row]++];
  }
  // For an env that the host resets: the seeds of its resets, unless more episodes end than it has seeds for.
  void CheckSeed(uint64_t row, uint64_t seed) {
    if (used_[row] == per_row_) return;
    if (NextSeed(row) != seed) throw bp::Error(BP_E_INTERNAL, "the reset has a different seed");
    ++g_foreseen;
  }

 private:
  uint64_t n_rows_, per_row_ = 0;
  std::vector<uint64_t> next_seeds_, used_;
};

struct InHostMemory {};

class OnDevice {
 public:
  void* Allocate(uint64_t bytes) { return DevicePages::Allocate(bytes); }
  void Release(void* block) { DevicePages::Release(block); }
  // The first copy after steps waits for them, like a device that works asynchronously.
  void ToHost(void* host, const void* device, uint64_t bytes) {
    const PhaseClock* clock = PhaseClock::OfThisThread();
    if (steps_under_way_ && clock) g_waited_in = clock->current();
    steps_under_way_ = false;
    Copy(host, device, bytes);
  }
  void ToDevice(void* device, const void* host, uint64_t bytes) { Copy(device, host, bytes); }
  void Copy(void* to, const void* from, uint64_t bytes) {
    const DevicePages::Open open;
    std::memcpy(to, from, bytes);
  }
  void Gather(void* to, const void* from, uint64_t bytes_each, uint64_t n, const int64_t* indices) {
    const DevicePages::Open open;
    for (uint64_t i = 0; i < n; ++i)
      std::memcpy(static_cast<char*>(to) + i * bytes_each, static_cast<const char*>(from) + indices[i] * bytes_each,
                  bytes_each);
  }

 protected:
  std::atomic<bool> steps_under_way_{false};
};

template <Form kForm>
class Twin : public KnowsSeeds, public std::conditional_t<kForm == Form::kOnDevice, OnDevice, InHostMemory> {
 public:
  static constexpr bool kResetsItself = kForm != Form::kOrdinary, kRowsConcurrent = !kResetsItself;
  static constexpr bool kDevice = kForm == Form::kOnDevice;
  static constexpr bp::About kAbout{
      .id = kDevice         ? "env.on_device"
            : kResetsItself ? "env.self_resetting"
                            : "env.ordinary",
      .version = "1",
      .summary = "a twin",
      .flags = BP_FLAG_OWNS_TIME_LIMIT | (kResetsItself ? uint64_t{BP_FLAG_NATIVE_AUTORESET} : 0)};
  explicit Twin(uint64_t rows) : KnowsSeeds(rows), rows_(rows) {
    if (kDevice) spec_.Device({BP_DEVICE_CUDA, 0});
    if (!kResetsItself) return;
    if (!g_faults.no_final_obs)
      final_obs_ = spec_.Add<float>({.role = BP_ROLE_FINAL_OBS, .name = "final_obs", .shape = {kObs}, .scope = BP_SCOPE_AGENT});
    final_state_ = spec_.Add<float>(
        {.role = BP_ROLE_FINAL_STATE, .name = "final_state", .shape = {g_faults.short_final_state ? kState - 1 : kState}});
    if (g_faults.no_final_age) return;
    final_age_ = spec_.Add<int8_t>({.role = BP_ROLE_FINAL_OBS, .name = "final_age", .scope = BP_SCOPE_AGENT});
  }

  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    const DevicePages::Open open;
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      if (mask && !kResetsItself) CheckSeed(r, seeds[r]);
      Start(slot, r, seeds[r]);
    }
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    const DevicePages::Open open;
    if (kResetsItself && (begin != 0 || end != rows_.size()))
      throw bp::Error(BP_E_INVALID_ARG, "an env that resets itself steps all rows at once");
    if constexpr (kDevice) this->steps_under_way_ = true;
    for (uint64_t r = begin; r < end; ++r) {
      Row& row = rows_[r];
      ++row.steps;
      for (uint32_t a = 0; a < kAgents; ++a) {
        const int32_t action = slot.Row(action_, r)[a];
        row.sum += static_cast<float>(action);
        slot.Row(reward_, r)[a] = static_cast<int>(r) == g_switches.nan_row
                                      ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(action + bp_rng_uniform(&row.rng));
      }
      const bool terminated = bp_rng_below(&row.rng, 8) == 0, cut = row.steps >= CutAt(r);
      slot.Row(terminated_, r)[0] = terminated;
      slot.Row(truncated_, r)[0] = cut;
      slot.Row(steps_, r)[0] = static_cast<float>(row.steps);
      if (static_cast<int>(r) == g_switches.nan_end && (terminated || cut)) row.noise = std::numeric_limits<float>::quiet_NaN();
      Observe(slot, r, obs_, state_, age_);
      if constexpr (kResetsItself) {
        if (!terminated && !cut) continue;
        Observe(slot, r, final_obs_, final_state_, final_age_);
        Start(slot, r, this->NextSeed(r));
      }
    }
  }

 private:
  void Start(const bp::Slot& slot, uint64_t r, uint64_t seed) {
    Row& row = rows_[r];
    row = {{seed, 0}, 0, 0, 0};
    row.noise = static_cast<float>(bp_rng_uniform(&row.rng));
    Observe(slot, r, obs_, state_, age_);
  }

  void Observe(const bp::Slot& slot, uint64_t r, bp::Handle<float> obs_channel, bp::Handle<float> state_channel,
               bp::Handle<int8_t> age_channel) {
    const Row& row = rows_[r];
    for (uint32_t a = 0; a < kAgents; ++a) {
      const float obs[kObs] = {static_cast<float>(r), static_cast<float>(a), static_cast<float>(row.steps), row.noise};
      std::ranges::copy(obs, slot.Row(obs_channel, r).begin() + a * kObs);
      slot.Row(age_channel, r)[a] = static_cast<int8_t>(row.steps + a);
      const auto mask = slot.Row(mask_, r).subspan(3 * a, 3);
      mask[0] = mask[1] = 1;
      mask[2] = a == 0 || row.steps % 2 == 0;
    }
    const float state[kState] = {static_cast<float>(row.steps), row.sum};
    std::ranges::copy(state, slot.Row(state_channel, r).begin());
  }

  std::vector<Row> rows_;
  bp::EnvSpec spec_ = bp::EnvSpec()
                          .MaxAgents(kAgents)
                          .AgentObs(kObs)
                          .State(kState)
                          .AgentActionDiscrete(3)
                          .ActionMask()
                          .AgentReward()
                          .Terminated()
                          .Add({.role = BP_ROLE_TRUNCATED, .name = "truncated", .dtype = bp::kU8})
                          .Info("ep/steps");
  bp::Handle<int8_t> age_ = spec_.Add<int8_t>({.role = BP_ROLE_OBS, .name = "age", .scope = BP_SCOPE_AGENT});
  bp::Handle<float> obs_ = spec_.Get<float>(BP_ROLE_OBS), state_ = spec_.Get<float>(BP_ROLE_STATE);
  bp::Handle<uint8_t> mask_ = spec_.Get<uint8_t>(BP_ROLE_ACTION_MASK);
  bp::Handle<const int32_t> action_ = spec_.Get<const int32_t>(BP_ROLE_ACTION);
  bp::Handle<float> reward_ = spec_.Get<float>(BP_ROLE_REWARD), steps_ = spec_.Get<float>("ep/steps");
  bp::Handle<uint8_t> terminated_ = spec_.Get<uint8_t>(BP_ROLE_TERMINATED);
  bp::Handle<uint8_t> truncated_ = spec_.Get<uint8_t>(BP_ROLE_TRUNCATED);
  bp::Handle<float> final_obs_, final_state_;
  bp::Handle<int8_t> final_age_;
};

// Picks actions by a random number, even masked ones; the env accepts them.
struct TwinLearner {
  bool carries;
  bp_channel out[3];
  bp_learner_spec spec;
};
const char *const kIn[] = {"obs", "action_mask", nullptr}, *const kCarryIn[] = {"obs", "action_mask", "count", nullptr};
const char* const kKeep[] = {"obs",    "state",      "action_mask", "action",   "twice",
                             "reward", "terminated", "truncated",   "ep/steps", nullptr};

bp_status CreateLearner(const bp_host*, const bp_config*, const bp_env_spec*, uint64_t, uint64_t, bp_learner** out) {
  static constexpr int64_t kChoices[] = {3};
  auto* learner = new TwinLearner;
  const uint32_t size = sizeof(bp_channel);
  learner->out[0] = {size,     BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_AGENT, 0,        bp::kI32,
                     "action", nullptr,        nullptr,           nullptr,        kChoices, 0};
  learner->out[1] = {size,    BP_ROLE_EXTRA, BP_SPACE_BOX, BP_SCOPE_AGENT, 0,       bp::kF32,
                     "twice", nullptr,       nullptr,      nullptr,        nullptr, 0};
  static constexpr int64_t kPair[] = {2};
  learner->carries = g_switches.carries;
  learner->out[2] = {size,    BP_ROLE_CARRY, BP_SPACE_BOX, BP_SCOPE_AGENT, 1,       bp::kF32,
                     "count", kPair,         nullptr,      nullptr,        nullptr, 0};
  const uint64_t flags = g_switches.moments ? BP_LEARNER_OBS_MOMENTS : 0;
  const bool carries = learner->carries;
  learner->spec = {sizeof(bp_learner_spec), 0, carries ? kCarryIn : kIn, kKeep, learner->out, carries ? 3u : 2u, 0, flags};
  *out = reinterpret_cast<bp_learner*>(learner);
  return BP_OK;
}
void DestroyLearner(bp_learner* l) { delete reinterpret_cast<TwinLearner*>(l); }
const bp_learner_spec* LearnerSpec(const bp_learner* l) { return &reinterpret_cast<const TwinLearner*>(l)->spec; }
bp_status Plan(bp_learner*, const bp_limits*, bp_request* out) {
  out->kind = BP_REQ_DONE;
  return BP_OK;
}
bp_status Consume(bp_learner*, const bp_delivery*) { return BP_OK; }
bp_status Act(bp_learner* l, const bp_act* act) {
  const DevicePages::Open open;
  const bool carries = reinterpret_cast<const TwinLearner*>(l)->carries;
  for (uint64_t i = act->begin * kAgents; i < act->end * kAgents; ++i) {
    const float* obs = static_cast<const float*>(act->in[0]->data) + i * kObs;
    bp_rng rng{bp_seed(act->seed, BP_PURPOSE_ACT, static_cast<uint32_t>(i), act->step), 0};
    const double noise = act->flags & BP_ACT_GREEDY ? 0 : bp_rng_uniform(&rng);
    const int32_t action = static_cast<int32_t>((noise + obs[3]) * 1.5) % 3;
    static_cast<int32_t*>(act->out[0]->data)[i] = action;
    static_cast<float*>(act->out[1]->data)[i] = 2.0f * static_cast<float>(action) + obs[2];
    if (!carries) continue;
    static_cast<float*>(act->out[2]->data)[2 * i] = static_cast<const float*>(act->in[2]->data)[2 * i] + 1;
    static_cast<float*>(act->out[2]->data)[2 * i + 1] = static_cast<const float*>(act->in[2]->data)[2 * i + 1] - 1;
  }
  return BP_OK;
}
const bp_learner_api kLearnerApi{
    sizeof(bp_learner_api), 0, CreateLearner, DestroyLearner, LearnerSpec, Plan, Consume, Act, nullptr};

// The env's plugin without the parts that g_faults removes.
template <Form kForm>
struct Faulty {
  using Plugin = bp::EnvBatch<Twin<kForm>>;

  static const bp_env_api* Real() { return static_cast<const bp_env_api*>(Plugin::Api()); }
  static const void* Extension(const bp_env* env, const char* id) {
    const bool missing = (g_faults.no_autoreset && std::strcmp(id, BP_ENV_AUTORESET_1) == 0) ||
                         (g_faults.no_memory && std::strcmp(id, BP_ENV_MEMORY_1) == 0);
    return missing ? nullptr : Real()->get_extension(env, id);
  }
  static const bp_env_api* Api() {
    static bp_env_api api = *Real();
    api.get_extension = Extension;
    return &api;
  }
  static const bp_descriptor* Descriptor() {
    static bp_descriptor descriptor;
    descriptor = bp::DescriptorOf<Plugin>(BP_KIND_ENV);
    descriptor.flags &= ~g_faults.without_flags;
    return &descriptor;
  }
};

const bp_descriptor* Descriptor(uint32_t index) {
  static const bp_descriptor learner = {sizeof(bp_descriptor), BP_KIND_LEARNER,         "learner.twin", "1",     "a twin",
                                        "Apache-2.0",          BP_FLAG_ROWS_CONCURRENT, nullptr,        nullptr, 0};
  switch (index) {
    case 0: return Faulty<Form::kOrdinary>::Descriptor();
    case 1: return Faulty<Form::kSelfResetting>::Descriptor();
    case 2: return Faulty<Form::kOnDevice>::Descriptor();
    default: return &learner;
  }
}

const char* Id(Form form) {
  return form == Form::kOrdinary ? "env.ordinary" : form == Form::kSelfResetting ? "env.self_resetting" : "env.on_device";
}

const void* Api(const char* id) {
  if (std::strcmp(id, "learner.twin") == 0) return &kLearnerApi;
  if (std::strcmp(id, Id(Form::kOrdinary)) == 0) return Faulty<Form::kOrdinary>::Api();
  return std::strcmp(id, Id(Form::kOnDevice)) == 0 ? Faulty<Form::kOnDevice>::Api() : Faulty<Form::kSelfResetting>::Api();
}

const bp_module& Module() {
  static const bp_module module{sizeof(bp_module), BP_ABI_MINOR,      0,          0,  "", "{}", nullptr,
                                nullptr,           [] { return 4u; }, Descriptor, Api};
  return module;
}

}  // namespace

DevicePages::Open::Open() {
  if (!g_blocks.empty() && g_open++ == 0) Protect(PROT_READ | PROT_WRITE);
}
DevicePages::Open::~Open() {
  if (!g_blocks.empty() && --g_open == 0) Protect(PROT_NONE);
}
uint64_t DevicePages::blocks() { return g_blocks.size(); }
void* DevicePages::Allocate(uint64_t bytes) {
  const uint64_t size = (bytes + kPage - 1) / kPage * kPage;
  void* block = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  g_blocks[block] = size;
  return block;
}
void DevicePages::Release(void* block) {
  munmap(block, g_blocks.at(block));
  g_blocks.erase(block);
}

TwinTrial::TwinTrial(Form form, uint64_t rows, unsigned threads, uint64_t chunk_rows, uint64_t seed) : clocks(threads) {
  g_switches.nan_row = -1;
  g_switches.nan_end = -1;
  sinks.cancelled = &cancelled;
  module = LoadedModule::FromTable(Module());
  const InstanceOptions none{nlohmann::json::object(), {}, ""};
  env = std::make_unique<EnvInstance>(*module, Id(form), sinks, none, rows);
  evaluation_env = std::make_unique<EnvInstance>(*module, Id(form), sinks, none, 5);
  learner = std::make_unique<LearnerInstance>(*module, "learner.twin", sinks, none, *env, seed);
  pool = std::make_unique<RunnerPool>(threads);
  collector =
      std::make_unique<RolloutCollector>(*env, *learner, *pool, RolloutCollectorConfig{chunk_rows, seed}, cancelled, [] {});
}

bool TwinTrial::Collect(uint64_t horizon) {
  const PhaseSpan span(clocks[0], Phase::kSync);
  return collector->Collect(horizon, clocks);
}

EvaluationResult TwinTrial::Evaluate(Evaluator::Policy policy) {
  return Evaluator(*evaluation_env, *learner, *pool, 2, 7, cancelled, [] {}).Play(policy, clocks);
}

}  // namespace backplane::twin
