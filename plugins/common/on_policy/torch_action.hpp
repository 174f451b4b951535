// Log-probability and entropy of actions in LibTorch, for any distributions.
#pragma once

#include <ATen/ATen.h>

#include "on_policy/distributions.hpp"
#include "on_policy/torch_loss.hpp"

namespace backplane::on_policy {

// Actions of n samples; undefined if there are none of the kind, or all choices are allowed.
struct TorchActions {
  at::Tensor numbers, choices, mask;  // [n, numbers], unclipped; [n, choices]; [n, flags]
};
struct TorchTerm {
  at::Tensor logp, entropy;  // [n]; the mean
};

inline TorchTerm NumbersTerm(const Distribution& part, const at::Tensor& mean, const at::Tensor& x, const at::Tensor& log_std) {
  const at::Tensor own = log_std.narrow(-1, part.number, part.n);
  return {GaussianLogp(x.narrow(1, part.number, part.n), mean, own), GaussianEntropy(own).mean()};
}
inline TorchTerm ChoiceTermOf(const Distribution& part, const at::Tensor& logits, const at::Tensor& choices,
                              const at::Tensor& mask) {
  const at::Tensor log_probs = MaskedLogSoftmax(logits, mask.defined() ? mask.narrow(1, part.flag, part.n) : at::Tensor());
  return {log_probs.gather(1, choices.narrow(1, part.choice, 1)).squeeze(1), CategoricalEntropy(log_probs).mean()};
}
inline TorchTerm BitsTerm(const at::Tensor& logits, const at::Tensor& bits) {
  const at::Tensor above = at::softplus(logits);  // -log P(0)
  return {(bits * logits - above).sum(1), (above - logits * logits.sigmoid()).sum(1).mean()};
}

// log_std: of each number, [numbers] or [n, numbers]; undefined without numbers.
inline TorchTerm ActionTerm(const Distributions& action, const at::Tensor& head, const TorchActions& actions,
                            const at::Tensor& log_std) {
  TorchTerm sum;
  for (const Distribution& part : action.each) {
    const at::Tensor outputs = head.narrow(1, part.output, part.n);
    const TorchTerm one = part.kind == Kind::kGaussian ? NumbersTerm(part, outputs, actions.numbers, log_std)
                          : part.kind == Kind::kBits   ? BitsTerm(outputs, actions.choices.narrow(1, part.choice, part.n))
                                                       : ChoiceTermOf(part, outputs, actions.choices, actions.mask);
    sum.logp = sum.logp.defined() ? sum.logp + one.logp : one.logp;
    sum.entropy = sum.entropy.defined() ? sum.entropy + one.entropy : one.entropy;
  }
  return sum;
}

}  // namespace backplane::on_policy
