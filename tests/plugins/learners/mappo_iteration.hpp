// One iteration's samples and a model for them, for tests of values and gradients.
#pragma once

#include <cmath>
#include <memory>

#include "actor.hpp"
#include "agents.hpp"
#include "batch.hpp"
#include "model.hpp"

namespace backplane::mappo::iteration_fixture {

using backplane::test_support::AgentEnv;
using backplane::test_support::AgentRollout;
using backplane::test_support::AgentShape;

// Runs all parts on the caller, in the given order.
inline Parallel InOrder() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    for (uint64_t i = 0; i < n; ++i) body(i);
  };
}
inline Parallel Backwards() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    for (uint64_t i = n; i-- > 0;) body(i);
  };
}

inline bp_host SilentHost() {
  bp_host host{sizeof(bp_host)};
  host.get_extension = [](const bp_host*, const char*) -> const void* { return nullptr; };
  host.log = [](const bp_host*, int32_t, const char*) {};
  return host;
}

// |a - b| / |b|
inline double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / norm);
}

constexpr LossOptions kLoss{.clip = .2, .vf_clip = 0, .huber_delta = 0, .entropy_coeff = .01, .vf_coeff = .5};
// The same with a change: change(LossOptions*).
template <class Change>
constexpr LossOptions LossWith(Change&& change) {
  LossOptions options = kLoss;
  change(&options);
  return options;
}

// A rollout with actions of the net's own actor, and its samples with random advantages and returns.
class Iteration {
 public:
  explicit Iteration(const AgentShape& agents, bool central = true, Activation activation = Activation::kTanh,
                     std::vector<int64_t> vf_hidden = {40, 24})
      : env(agents),
        shape(&env.spec),
        net({.obs = agents.obs,
             .state = central ? agents.state : 0,
             .actions = agents.actions,
             .hidden = {32, 24},
             .vf_hidden = std::move(vf_hidden),
             .activation = activation,
             .distributions = shape.distributions}),
        params(net.size),
        rollout(agents),
        streams(shape, static_cast<uint64_t>(agents.rows), .99, .95, 1),
        batch(shape) {
    InitParams(net, 7, true, -.5, params.data());
    bp_rng rng{5, 0};
    for (float& p : params) p += static_cast<float>(.05 * bp_rng_normal(&rng));
    rollout.Fill(2);
    Act(0, agents.rows);
    streams.Read(rollout.delivery());
    batch.Take(rollout.delivery(), streams);
    Samples& s = batch.samples();
    for (auto* each : {&s.advantage, &s.ret, &s.value}) {
      for (float& x : *each) x = static_cast<float>(bp_rng_normal(&rng));
    }
    batch.Shuffle(1, OnOneThread());
  }

  // Acts in rows [begin, end) at every step.
  void Act(uint64_t begin, uint64_t end, uint32_t flags = BP_ACT_EXPLORE) {
    Actor actor(net, shape);
    actor.Refresh(params.data());
    for (int64_t t = 0; t < env.shape.steps; ++t) {
      std::vector<bp_tensor> in = rollout.In(t), out = rollout.Out(t);
      std::vector<bp_tensor*> ins = rollout.Pointers(in), outs = rollout.Pointers(out);
      actor.Act({sizeof(bp_act), flags, begin, end, 0, 11, static_cast<uint64_t>(t), ins.data(), outs.data()});
    }
  }
  std::unique_ptr<Model> Fused(int64_t shards = 2, Parallel parallel = InOrder(),
                               nn::Precision precision = nn::Precision::kFull) {
    std::unique_ptr<Model> model = FusedModel(net, shape, shards, std::move(parallel), &host, precision);
    model->Take(rollout.delivery(), streams, batch.samples());
    return model;
  }
  Minibatch All() const { return {batch.samples(), batch.Order(0, batch.samples().n), {.2, 1.5}, {.1, .8}}; }
  std::vector<float> GradientOf(Model& model, const LossOptions& options, StepStats* out_stats = nullptr) const {
    std::vector<float> out(net.size);
    const StepStats stats = model.Gradient(All(), options, params.data(), out.data());
    if (out_stats) *out_stats = stats;
    return out;
  }
  // Values of samples, then of bootstraps.
  std::vector<float> ValuesOf(Model& model) const {
    std::vector<float> out(batch.samples().n + streams.bootstraps().size());
    model.Values(params.data(), out.data(), out.data() + batch.samples().n);
    return out;
  }

  const bp_host host = SilentHost();
  AgentEnv env;
  EnvShape shape;
  Net net;
  std::vector<float> params;
  AgentRollout rollout;
  Streams streams;
  Batch batch;
};

}  // namespace backplane::mappo::iteration_fixture
