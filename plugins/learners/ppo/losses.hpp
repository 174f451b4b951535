// The parts of PPO's loss, each over a batch in the first dimension.
#pragma once

#include <ATen/core/Tensor.h>

namespace backplane::ppo {

at::Tensor GaussianLogp(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& log_std);
at::Tensor GaussianEntropy(const at::Tensor& log_std);
// mask: not 0 where allowed; undefined: all allowed.
at::Tensor MaskedLogSoftmax(const at::Tensor& logits, const at::Tensor& mask);
at::Tensor CategoricalEntropy(const at::Tensor& log_probs);
// mean max(-A ratio, -A clip(ratio, 1 - clip, 1 + clip))
at::Tensor ClippedSurrogate(const at::Tensor& ratio, const at::Tensor& advantage, double clip);
// (A - mean) / (std + 1e-8) with the unbiased std; a single one stays as it is.
at::Tensor NormalizeAdvantages(const at::Tensor& advantage);
// Half the mean of max((V - R)^2, (V_old + clip(V - V_old, -clip, clip) - R)^2); clip 0: the first term alone.
at::Tensor ValueLoss(const at::Tensor& value, const at::Tensor& old, const at::Tensor& target, double clip);

}  // namespace backplane::ppo
