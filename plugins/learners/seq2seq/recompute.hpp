// Gradient checkpointing (Chen et al., arXiv 1604.06174): a layer keeps its inputs alone, and is run again when its gradient is
// wanted.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace backplane::seq2seq {

// A function of x, and of memory where it is defined; whatever else it needs it owns or outlives the backward pass, and it
// computes the same each time. Parameters it uses get their gradients as leaves.
using LayerFunction = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& memory)>;
at::Tensor Recompute(LayerFunction run, const at::Tensor& x, const at::Tensor& memory);

}  // namespace backplane::seq2seq
