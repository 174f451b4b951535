// Gradient checkpointing (Chen et al., arXiv 1604.06174): a layer keeps only its inputs, and runs again for its gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace backplane::seq2seq {

// A function of x, and of memory if it is defined. Everything else must be owned or outlive the backward pass, and it must
// compute the same each time. Its parameters get their gradients as leaves.
using LayerFunction = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& memory)>;
at::Tensor Recompute(LayerFunction run, const at::Tensor& x, const at::Tensor& memory);

}  // namespace backplane::seq2seq
