// A group of agents with the same channels: their nets, the samples of an iteration, and the losses of a gradient step. An env
// without groups has one.
#pragma once

#include <memory>

#include "actor.hpp"
#include "options.hpp"
#include "torch_model.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

struct Group {
  Group(const EnvShape& env_shape, const Net& own_net, int64_t first_param, const Options& options, uint64_t rows)
      : shape(env_shape),
        net(own_net),
        offset(first_param),
        actor(net, shape),
        streams(shape, rows, options.gamma, options.lambda, options.reward_scale, options.bootstrap_truncated),
        batch(shape, options.memory) {}

  void Refresh(const float* params) { torch_actor ? torch_actor->Refresh(params + offset) : actor.Refresh(params + offset); }
  // `act`: of all groups.
  void Act(const bp_act& act) const {
    bp_act own = act;
    own.in += first_in, own.out += first_out;
    torch_actor ? torch_actor->Act(own) : actor.Act(own);
  }

  EnvShape shape;
  Net net;
  int64_t offset;  // of its parameters among all of the learner's
  std::unique_ptr<Model> model;
  TorchModel* torch_model = nullptr;  // model, if it is one
  bool probe_amp = false;             // at the next minibatch
  Actor actor;
  std::unique_ptr<TorchActor> torch_actor;  // on a device; else `actor` acts
  size_t first_in = 0, first_out = 0;       // its inputs and outputs of `act`
  Streams streams;
  Batch batch;
  ValueNorm value_norm;
  Scaling advantage_scaling;  // of the iteration
};

}  // namespace backplane::mappo
