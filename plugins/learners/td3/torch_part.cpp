// TD3's part of the losses in LibTorch: tanh of the tower's outputs, in the targets with clipped noise.
#include <ATen/ATen.h>

#include "off_policy/torch_actor_critic.hpp"
#include "torch_plugin.hpp"

namespace backplane::td3 {
namespace {

std::unique_ptr<ActorCriticGradients<float>> MakeGradients(const Net& net, const TrainerOptions& step, const bp_host* host,
                                                           const TorchOptions& options) {
  const auto present = [](const at::Tensor& head, const at::Tensor& /*noise*/) { return TorchChoice{head.tanh(), {}}; };
  const auto next = [deviation = step.target_noise, most = step.target_noise_clip](const at::Tensor& head,
                                                                                   const at::Tensor& noise) {
    return TorchChoice{(head.tanh() + (noise * deviation).clamp(-most, most)).clamp(-1, 1), {}};
  };
  return TorchActorCritic(net, {.present = present, .next = next, .smaller = false}, host, options);
}

}  // namespace

const Part kTorchPart = {sizeof(Part), torch_common::HasCuda, MakeGradients, torch_common::MemoryOfPart()};

}  // namespace backplane::td3
