// The operations that hold most of a network's weights. Their gradients are added to the leaves' grad() where these lie, which
// must be there: no tensor of a weight's size is made for each micro-batch, as LibTorch's own operations do.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "packed_weight.hpp"

namespace backplane::seq2seq {

// A leaf, and its values in bfloat16, in which products are then computed. `low` undefined: in float32. `packed` holds the
// values that `value` has now, for what trains by our own products (training.hpp); none of the operations here reads it.
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
