// SAC's part of the losses in LibTorch: actions of the squashed Gaussian, as in squashed.hpp.
#include <ATen/ATen.h>

#include <cmath>

#include "off_policy/torch_actor_critic.hpp"
#include "squashed.hpp"
#include "torch_plugin.hpp"

namespace backplane::sac {
namespace {

TorchChoice Draw(const at::Tensor& head, const at::Tensor& noise) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178, kLn2 = 0.69314718055994530942;
  const int64_t n = noise.size(1);
  const at::Tensor log_std = head.narrow(1, n, n).clamp(kLeastLogStd, kMostLogStd);
  const at::Tensor u = head.narrow(1, 0, n) + log_std.exp() * noise;
  const at::Tensor log_slope = (kLn2 - u - at::softplus(u * -2)) * 2;
  return {u.tanh(), (noise.square() * -.5 - log_std - kHalfLog2Pi - log_slope).sum(1)};
}

std::unique_ptr<ActorCriticGradients<float>> MakeGradients(const Net& net, const TrainerOptions& /*step*/, const bp_host* host,
                                                           const TorchOptions& options) {
  return TorchActorCritic(net, {.present = Draw, .next = Draw, .smaller = true}, host, options);
}

}  // namespace

const Part kTorchPart = {sizeof(Part), torch_common::HasCuda, MakeGradients, torch_common::MemoryOfPart()};

}  // namespace backplane::sac
