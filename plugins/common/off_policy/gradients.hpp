// Gradients of losses that LibTorch computes instead of the fused code. T is float, or double for trainers in tests.
#pragma once

#include <cstdint>
#include <memory>

#include "backplane/host.h"
#include "off_policy/batch.hpp"
#include "off_policy/net.hpp"
#include "on_policy/options.hpp"
#include "torch/memory.hpp"

namespace backplane::off_policy {

// The loss of a gradient step, and the mean value of the sampled actions.
struct ValueStep {
  double loss, q;
};

// For an actor and two critics (twin_critics.hpp).
template <class T>
class ActorCriticGradients {
 public:
  // Flat buffers of the host. `next_actor` chooses the actions at next_obs.
  struct Params {
    const T *actor, *next_actor, *critics, *targets;
  };
  // Standard normals [n, actions] for actions at obs and at next_obs; NULL: not needed. `alpha` weighs ln p in both losses.
  struct Draws {
    const T *noise, *next_noise;
    double alpha;
  };
  // Mean of ln p of the chosen actions; 0 if they are not drawn.
  struct ActorStep {
    double loss, logp;
  };

  virtual ~ActorCriticGradients() = default;
  // Writes the gradient of the critics' loss into `out`, and the mean distances of both critics from their target into
  // `errors` [n].
  virtual ValueStep Critics(const Batch<T>& batch, const Draws& draws, const Params& params, T* out, T* errors) = 0;
  // The actor's, of the same batch, after the critics' step.
  virtual ActorStep Actor(const Params& params, T* out) = 0;
};

// The interface of the parts learner_*_torch.so, which a plugin loads if its options or a GPU require LibTorch. Both are built
// together, so C++ types may cross the boundary. Arguments: the net and the options of the gradient step.
template <class Gradients, class Net, class StepOptions>
struct TorchPart {
  uint32_t struct_size;
  bool (*has_cuda)();  // LibTorch is built for CUDA and sees a GPU
  std::unique_ptr<Gradients> (*gradients)(const Net& net, const StepOptions& step, const bp_host* host,
                                          const TorchOptions& options);
  torch_common::Memory memory;
};

}  // namespace backplane::off_policy
