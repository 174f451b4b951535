// Rollouts with several agents per row, as a host delivers them: random observations, agents that die, rows that end.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "backplane/rng.h"
#include "fake_host.hpp"

namespace backplane::test_support {

struct AgentShape {
  int64_t rows = 3, agents = 4, steps = 12, obs = 11, state = 7, actions = 5;
  double zeros = 0.8;  // share of observations that are 0
  int64_t masked = 0;  // flags of a mask; 0: one for each action
  bool has_state = true, has_mask = true, has_alive = true, has_ended = true;
  bool has_cut_alone = false;  // agents are also truncated on their own
  int64_t max_episode_steps = 50;
  // `more`: choices of a second action in the same channel. `numbers` and `bits` have channels of their own. 0: none.
  int64_t more = 0, numbers = 0, bits = 0;
  int64_t flags() const { return actions + more; }
};

class AgentEnv {
 public:
  explicit AgentEnv(const AgentShape& s) : shape(s) {
    const auto add = [&](uint16_t role, uint16_t space, uint16_t scope, bp_dtype type, const char* name, const int64_t* size) {
      channels_.push_back({sizeof(bp_channel), role, space, scope, static_cast<uint16_t>(size ? 1 : 0), type, name, size});
    };
    const bp_dtype f32 = bp::DtypeOf<float>(), u8 = bp::DtypeOf<uint8_t>();
    add(BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_AGENT, f32, "obs", &shape.obs);
    if (s.has_state) add(BP_ROLE_STATE, BP_SPACE_BOX, BP_SCOPE_ROW, f32, "state", &shape.state);
    if (s.actions > 0) {
      add(BP_ROLE_ACTION, s.more > 0 ? BP_SPACE_MULTI_DISCRETE : BP_SPACE_DISCRETE, BP_SCOPE_AGENT, bp::DtypeOf<int32_t>(),
          "action", s.more > 0 ? &kTwo : nullptr);
      channels_.back().nvec = nvec_.data();
    }
    if (s.numbers > 0) {
      add(BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_AGENT, f32, "action/numbers", &shape.numbers);
      channels_.back().low = &kLow, channels_.back().high = &kHigh, channels_.back().n_bounds = 1;
    }
    if (s.bits > 0) add(BP_ROLE_ACTION, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, u8, "action/bits", &shape.bits);
    if (s.has_mask)
      add(BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, u8, "action_mask", s.masked ? &shape.masked : &flags_);
    if (s.has_alive) add(BP_ROLE_ALIVE, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, u8, "alive", nullptr);
    add(BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_AGENT, f32, "reward", nullptr);
    if (s.has_ended) add(BP_ROLE_INFO, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, u8, "agent_ended", nullptr);
    if (s.has_cut_alone) add(BP_ROLE_INFO, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, u8, "agent_truncated", nullptr);
    spec = {sizeof(bp_env_spec), static_cast<uint32_t>(s.agents), channels_.data(), channels_.size(), s.max_episode_steps,
            {BP_DEVICE_CPU, 0}};
  }
  AgentEnv(const AgentEnv&) = delete;
  static constexpr double kLow = 0.1, kHigh = 1;  // of the numbers
  const AgentShape shape;
  bp_env_spec spec;

 private:
  static constexpr int64_t kTwo = 2;
  const std::array<int64_t, 2> nvec_ = {shape.actions, shape.more};
  const int64_t flags_ = shape.flags();
  std::vector<bp_channel> channels_;
};

// A whole rollout. `Fill` writes everything except actions. A test may change any number before it requests the delivery.
class AgentRollout {
 public:
  explicit AgentRollout(const AgentShape& s)
      : shape(s),
        all(s.rows * s.agents),
        obs({s.steps + 1, all, s.obs}),
        state({s.steps + 1, s.rows, s.state}),
        reward({s.steps, all}),
        logp({s.steps, all}),
        mask({s.steps + 1, all, s.flags()}),
        alive({s.steps + 1, all}),
        ended({s.steps, all}),
        cut_alone({s.steps, all}),
        terminated({s.steps, s.rows}),
        truncated({s.steps, s.rows}),
        action(s.more > 0 ? std::vector<int64_t>{s.steps, all, 2} : std::vector<int64_t>{s.steps, all}),
        numbers({s.steps, all, s.numbers}),
        raw({s.steps, all, s.numbers}),
        bits({s.steps, all, s.bits}),
        final_obs_({s.steps * all, s.obs}),
        final_state_({s.steps * s.rows, s.state}),
        final_index_({s.steps * s.rows}) {}

  void Fill(uint64_t seed) {
    bp_rng rng{seed, 0};
    for (auto* each : {&obs, &state, &reward, &final_obs_, &final_state_}) {
      for (float& x : each->data) x = static_cast<float>(bp_rng_normal(&rng));
    }
    for (auto* each : {&obs, &final_obs_}) {
      for (float& x : each->data) x = bp_rng_uniform(&rng) < shape.zeros ? 0 : x;
    }
    for (uint8_t& m : mask.data) m = bp_rng_uniform(&rng) < .7;
    for (size_t i = 0; i < mask.data.size(); i += shape.flags()) {
      mask.data[i] = 1;
      if (shape.more > 0) mask.data[i + shape.actions] = 1;
    }
    std::fill(alive.data.begin(), alive.data.begin() + all, 1);
    for (int64_t t = 0; t < shape.steps; ++t) {
      for (int64_t row = 0; row < shape.rows; ++row) Step(t, row, &rng);
    }
    final_index_.data.clear();
    for (int64_t i = 0; i < shape.steps * shape.rows; ++i) {
      if (terminated.data[i] || truncated.data[i]) final_index_.data.push_back(i);
    }
    ends_ = static_cast<int64_t>(final_index_.data.size());
    final_index_.shape[0] = ends_, final_obs_.shape[0] = ends_ * shape.agents, final_state_.shape[0] = ends_;
  }

  // Inputs and outputs of `act` at a step.
  std::vector<bp_tensor> In(int64_t t) {
    std::vector<bp_tensor> in = {obs.Entry(t)};
    if (shape.has_mask) in.push_back(mask.Entry(t));
    if (shape.has_alive) in.push_back(alive.Entry(t));
    return in;
  }
  std::vector<bp_tensor> Out(int64_t t) {
    std::vector<bp_tensor> out;
    if (shape.actions > 0) out.push_back(action.Entry(t));
    if (shape.numbers > 0) out.push_back(numbers.Entry(t));
    if (shape.bits > 0) out.push_back(bits.Entry(t));
    out.push_back(logp.Entry(t));
    if (shape.numbers > 0) out.push_back(raw.Entry(t));
    return out;
  }
  static std::vector<bp_tensor*> Pointers(std::vector<bp_tensor>& to) {
    std::vector<bp_tensor*> all;
    for (bp_tensor& each : to) all.push_back(&each);
    return all;
  }

  bp::Delivery delivery() {
    names_ = {"obs", "reward", "logp", "terminated", "truncated", "final_obs", "final_index"};
    tensors_ = {&obs.tensor,       &reward.tensor,     &logp.tensor,        &terminated.tensor,
                &truncated.tensor, &final_obs_.tensor, &final_index_.tensor};
    const auto add = [&](bool has, const char* name, bp_tensor* tensor) {
      if (has) names_.push_back(name), tensors_.push_back(tensor);
    };
    add(shape.actions > 0, "action", &action.tensor), add(shape.bits > 0, "action/bits", &bits.tensor);
    add(shape.numbers > 0, "action/numbers", &numbers.tensor), add(shape.numbers > 0, "raw_action", &raw.tensor);
    add(shape.has_state, "state", &state.tensor), add(shape.has_state, "final_state", &final_state_.tensor);
    add(shape.has_mask, "action_mask", &mask.tensor), add(shape.has_alive, "alive", &alive.tensor);
    add(shape.has_ended, "agent_ended", &ended.tensor);
    add(shape.has_cut_alone, "agent_truncated", &cut_alone.tensor);
    add(memory != nullptr, "memory", memory);
    raw_ = {sizeof(bp_delivery), BP_REQ_ROLLOUT};
    raw_.n_tensors = names_.size(), raw_.names = names_.data(), raw_.tensors = tensors_.data();
    return bp::Delivery(&raw_);
  }

  const AgentShape shape;
  const int64_t all;  // agents of all rows
  Buffer<float> obs, state, reward, logp;
  Buffer<uint8_t> mask, alive, ended, cut_alone, terminated, truncated;
  Buffer<int32_t> action;
  Buffer<float> numbers, raw;
  Buffer<uint8_t> bits;
  bp_tensor* memory = nullptr;  // [steps + 1, all, size], the test's own

 private:
  // Agents die one by one. A row ends with its last agent or is truncated.
  void Step(int64_t t, int64_t row, bp_rng* rng) {
    bool any = false, any_cut = false;
    for (int64_t a = row * shape.agents; a < (row + 1) * shape.agents; ++a) {
      const int64_t i = t * all + a;
      ended.data[i] = alive.data[i] && bp_rng_uniform(rng) < .15;
      if (shape.has_cut_alone) cut_alone.data[i] = alive.data[i] && !ended.data[i] && bp_rng_uniform(rng) < .2;
      alive.data[i + all] = alive.data[i] && !ended.data[i] && !cut_alone.data[i];
      any |= alive.data[i + all] != 0, any_cut |= cut_alone.data[i] != 0;
    }
    terminated.data[t * shape.rows + row] = !any && !any_cut;
    truncated.data[t * shape.rows + row] = any ? bp_rng_uniform(rng) < .12 : any_cut;
    if (any && !truncated.data[t * shape.rows + row]) return;
    std::fill_n(alive.data.begin() + (t + 1) * all + row * shape.agents, shape.agents, 1);
  }

  Buffer<float> final_obs_, final_state_;
  Buffer<int64_t> final_index_;
  int64_t ends_ = 0;
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
  bp_delivery raw_{};
};

}  // namespace backplane::test_support
