// The operations with most of a network's weights. They add gradients directly to the leaves' grad(), which must exist. Unlike
// LibTorch's operations, they create no weight-sized tensor per micro-batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "packed_weight.hpp"

namespace backplane::seq2seq {

// A leaf and its values in bfloat16, in which products are computed then; `low` undefined: in float32. `packed` contains the
// present `value` for training with the products in nn/ (training.hpp); the operations here do not read it.
struct Weight {
  at::Tensor value, low;
  const PackedWeight* packed = nullptr;
  const at::Tensor& factor() const { return low.defined() ? low : value; }
};
struct Affine {
  Weight weight, bias;
};

// x W^T + b: [..., in] -> [..., out], of the type of the factors.
at::Tensor Linear(const Affine& w, const at::Tensor& x);

// Rows of a table [V, d]: ids [...] -> [..., d]. Row `pad` gets no gradient.
at::Tensor Lookup(const at::Tensor& table, const at::Tensor& ids, int64_t pad);

// Summed cross-entropy of labels [n] under softmax(hidden W^T + b), hidden [n, d] and W [V, d], with a share of `smoothing` of
// each label spread over all V (Szegedy et al., arXiv 1512.00567). b is a constant. Scalar, float32.
at::Tensor LabelLoss(const Affine& w, const at::Tensor& hidden, const at::Tensor& labels, double smoothing);

}  // namespace backplane::seq2seq
