// All parameters of a model in one contiguous tensor, their gradients in another, and Adam over both. One buffer makes the
// global gradient norm, the optimiser step and saving single operations, and lets code without LibTorch read the weights.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace backplane::torch_common {

class FlatParams {
 public:
  FlatParams(int64_t size, at::ScalarType dtype)
      : value_(at::zeros({size}, dtype)), grad_(at::zeros({size}, dtype)), m_(at::zeros({size}, dtype)), v_(at::zeros({size}, dtype)) {}

  // A leaf of the autograd graph that shares memory with the flat buffers: backward() adds into a defined gradient in place.
  at::Tensor Leaf(int64_t offset, at::IntArrayRef shape) const {
    const int64_t n = c10::multiply_integers(shape);
    at::Tensor leaf = value_.narrow(0, offset, n).view(shape).detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = grad_.narrow(0, offset, n).view(shape);
    return leaf;
  }

  // Scales the gradient to at most `max_norm` (0: no limit) by min(1, max_norm / (norm + 1e-6)); returns the norm before.
  double ClipGrad(double max_norm) {
    const double norm = grad_.norm().item<double>();
    if (max_norm > 0 && max_norm / (norm + 1e-6) < 1) grad_.mul_(max_norm / (norm + 1e-6));
    return norm;
  }

  // Adam as torch.optim.Adam computes it, without weight decay.
  void AdamStep(double lr, double eps = 1e-5, double beta1 = 0.9, double beta2 = 0.999) {
    const c10::AutoGradMode no_grad(false);
    ++steps_;
    m_.lerp_(grad_, 1 - beta1);
    v_.mul_(beta2).addcmul_(grad_, grad_, 1 - beta2);
    const double bias1 = 1 - std::pow(beta1, static_cast<double>(steps_));
    const double bias2 = 1 - std::pow(beta2, static_cast<double>(steps_));
    value_.addcdiv_(m_, v_.sqrt().div_(std::sqrt(bias2)).add_(eps), -lr / bias1);
  }

  at::Tensor& value() { return value_; }
  at::Tensor& grad() { return grad_; }
  at::Tensor& m() { return m_; }
  at::Tensor& v() { return v_; }
  int64_t& steps() { return steps_; }

 private:
  at::Tensor value_, grad_, m_, v_;
  int64_t steps_ = 0;
};

}  // namespace backplane::torch_common
