// The gradients of an actor and two critics by LibTorch's autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "off_policy/gradients.hpp"

namespace backplane::off_policy {

// Actions [n, actions] in [-1, 1], and their ln p [n]; undefined if they are not drawn.
struct TorchChoice {
  at::Tensor action, logp;
};
// The learner's part of both losses.
struct TorchPolicy {
  // From the head [n, outputs] of the actor and standard normals [n, actions].
  std::function<TorchChoice(const at::Tensor&head, const at::Tensor&noise)> present, next;
  bool smaller;  // the actor's loss uses the smaller value of both critics; false: the first critic's
};

std::unique_ptr<ActorCriticGradients<float>> TorchActorCritic(const Net& net, TorchPolicy policy, const bp_host* host,
                                                              const TorchOptions& options);

}  // namespace backplane::off_policy
