// Pieces of gradients by LibTorch of learners with a replay buffer.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <string>

#include "backplane/plugin.hpp"
#include "off_policy/net.hpp"
#include "on_policy/torch_net.hpp"
#include "torch/at_device.hpp"
#include "torch/autocast.hpp"
#include "torch/errors.hpp"

namespace backplane::off_policy {

// A loss's flat gradient, which backward() adds to. The parameters and the gradient are on one device.
class FlatGradient {
 public:
  explicit FlatGradient(const at::Tensor& params) : gradient_(at::zeros_like(params)), leaves_(LeavesOf(params, gradient_)) {}
  const TensorOf& leaves() const { return leaves_; }
  void WriteTo(float* out) const { at::from_blob(out, gradient_.sizes(), at::kFloat).copy_(gradient_); }

 private:
  at::Tensor gradient_;
  TensorOf leaves_;
};

inline void CopyTo(float* out, const at::Tensor& values) { at::from_blob(out, values.sizes(), at::kFloat).copy_(values); }

// A batch is not divided: a batch of a learner with a replay buffer is small.
template <class Body>
auto WithBatchErrors(Body&& body) {
  try {
    return torch_common::WithTorchErrors(body);
  } catch (const bp::Error& e) {
    if (e.code() != BP_E_OOM_DEVICE) throw;
    throw bp::Error(BP_E_OOM_DEVICE, std::string(e.what()) + "; a smaller batch_size needs less");
  }
}

}  // namespace backplane::off_policy
