// PPO's loss in LibTorch and its parts, each over a batch in the first dimension.
#pragma once

#include <ATen/ATen.h>

#include "on_policy/clipped_loss.hpp"

namespace backplane::on_policy {

inline at::Tensor GaussianLogp(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& log_std) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  const at::Tensor z = (x - mean) * log_std.neg().exp();
  return (z.square() * -0.5 - log_std - kHalfLog2Pi).sum(-1);
}

inline at::Tensor GaussianEntropy(const at::Tensor& log_std) {
  constexpr double kHalfLog2PiE = 1.41893853320467274178;
  return (log_std + kHalfLog2PiE).sum(-1);
}

// mask: 0 if forbidden; undefined: all allowed.
inline at::Tensor MaskedLogSoftmax(const at::Tensor& logits, const at::Tensor& mask) {
  // Finite, so that 0 * log 0 stays 0 in the entropy and in its gradient.
  return (mask.defined() ? logits.masked_fill(mask.logical_not(), -1e30) : logits).log_softmax(-1);
}

inline at::Tensor CategoricalEntropy(const at::Tensor& log_probs) { return -(log_probs.exp() * log_probs).sum(-1); }

// mean max(-A ratio, -A clip(ratio, 1 - clip, 1 + clip))
inline at::Tensor ClippedSurrogate(const at::Tensor& ratio, const at::Tensor& advantage, double clip) {
  return at::max(-advantage * ratio, -advantage * ratio.clamp(1 - clip, 1 + clip)).mean();
}

// (A - mean) / (std + 1e-8) with the unbiased std; leaves a single one unchanged.
inline at::Tensor NormalizeAdvantages(const at::Tensor& advantage) {
  if (advantage.size(0) < 2) return advantage;
  return (advantage - advantage.mean()) / (advantage.std(/*unbiased=*/true) + 1e-8);
}

// Mean of max(f(V - R), f(V_old + clip(V - V_old, -clip, clip) - R)); only the first for clip 0. f(e) = e^2 / 2, linear beyond
// huber > 0.
inline at::Tensor ValueLoss(const at::Tensor& value, const at::Tensor& old, const at::Tensor& target, double clip,
                            double huber) {
  const auto loss = [&](const at::Tensor& v) {
    return huber > 0 ? at::huber_loss(v, target, at::Reduction::None, huber) : (v - target).square() * 0.5;
  };
  if (clip <= 0) return loss(value).mean();
  return at::max(loss(value), loss(old + (value - old).clamp(-clip, clip))).mean();
}

// Inputs of a loss: [n] each, `entropy` their mean.
struct TorchSamples {
  at::Tensor logp, old_logp, advantage, entropy, value, old_value, target;
};
// Runs backward() of weight * loss and sets all statistics, of the loss itself, except grad_norm and applied.
inline StepStats BackwardLoss(const TorchSamples& s, const LossOptions& o, double weight = 1) {
  const at::Tensor log_ratio = s.logp - s.old_logp, ratio = log_ratio.exp();
  const at::Tensor policy_loss = ClippedSurrogate(ratio, s.advantage, o.clip);
  const at::Tensor value_loss = ValueLoss(s.value, s.old_value, s.target, o.vf_clip, o.huber_delta);
  const at::Tensor total = policy_loss - s.entropy * o.entropy_coeff + value_loss * o.vf_coeff;
  const double scale = weight * o.loss_scale;
  (scale == 1 ? total : total * scale).backward();
  StepStats stats{};
  stats.policy_loss = policy_loss.item<double>(), stats.value_loss = value_loss.item<double>();
  stats.entropy = s.entropy.item<double>(), stats.total = total.item<double>();
  const at::Tensor moved = ratio.detach() - 1;
  stats.kl = (moved - log_ratio.detach()).to(at::kDouble).mean().item<double>();
  stats.clip_fraction = (moved.abs() > o.clip).to(at::kDouble).mean().item<double>();
  return stats;
}

}  // namespace backplane::on_policy
