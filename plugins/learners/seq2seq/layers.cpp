#include "layers.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_put.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mm.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace backplane::seq2seq {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// [..., n] -> [rows, n]
at::Tensor Rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

// to += scale * from on the CPU; LibTorch would first create a float32 tensor of `from`.
template <class Low>
void AddRounded(float* to, const Low* from, int64_t n, float scale) {
  constexpr int64_t kBlock = 16;  // a loop of fixed length is one that compilers vectorise at -O2
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    for (int64_t j = 0; j < kBlock; ++j) to[i + j] += scale * static_cast<float>(from[i + j]);
  }
  for (; i < n; ++i) to[i] += scale * static_cast<float>(from[i]);
}

// grad += scale a^T b
void AddProduct(at::Tensor grad, const at::Tensor& a, const at::Tensor& b, double scale = 1) {
  if (a.scalar_type() == grad.scalar_type()) {
    grad.addmm_(a.t(), b, 1, scale);
    return;
  }
  const at::Tensor product = at::mm(a.t(), b);
  if (grad.is_cpu()) {
    const auto add = [&](const auto* from) {
      AddRounded(grad.data_ptr<float>(), from, grad.numel(), static_cast<float>(scale));
    };
    product.scalar_type() == at::kHalf ? add(product.data_ptr<at::Half>()) : add(product.data_ptr<at::BFloat16>());
  } else {
    grad.add_(product, scale);
  }
}

// grad[ids] += rows in a fixed order: on a GPU index_add_ uses atomics in arbitrary order, while index_put_ sorts first.
void AddRows(at::Tensor grad, const at::Tensor& ids, const at::Tensor& rows) {
  if (grad.is_cpu()) {
    grad.index_add_(0, ids, rows);
  } else {
    at::index_put_(grad, c10::List<std::optional<at::Tensor>>({ids}), rows, /*accumulate=*/true);
  }
}

// A leaf is among the inputs so that the result requires a gradient; backward() adds the leaf's gradient itself.
struct LinearFunction : Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& factor, const at::Tensor& term) {
    const at::Tensor in = x.to(factor.scalar_type());
    ctx->save_for_backward({in, weight, bias, factor});
    return at::linear(in, factor, term);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &in = saved[0], g = Rows(gradients[0]);
    AddProduct(saved[1].grad(), g, Rows(in));
    saved[2].grad().add_(g.sum(0, false, at::kFloat));
    return {at::mm(g, saved[3]).view(in.sizes()), {}, {}, {}, {}};
  }
};

struct LookupFunction : Function<LookupFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& table, const at::Tensor& ids, int64_t pad) {
    ctx->save_for_backward({table, ids});
    ctx->saved_data["pad"] = pad;
    return at::embedding(table, ids);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor ids = saved[1].reshape({-1});
    const at::Tensor used = ids.ne(ctx->saved_data["pad"].toInt()).nonzero().squeeze(1);
    AddRows(saved[0].grad(), ids.index_select(0, used), Rows(gradients[0]).index_select(0, used));
    return variable_list(3);
  }
};

// The loss over all items, from log-softmax values [items, vocabulary] and labels [items, 1].
at::Tensor SumLoss(const at::Tensor& log_p, const at::Tensor& label, double smoothing) {
  at::Tensor loss = log_p.gather(1, label).sum() * (smoothing - 1);
  if (smoothing > 0) loss -= log_p.sum() * (smoothing / static_cast<double>(log_p.size(1)));
  return loss;
}

// Overwrites the log-softmax values with the gradient of the logits while they are in cache, because they are the largest
// tensor.
struct LabelLossFunction : Function<LabelLossFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& factor,
                            const at::Tensor& term, const at::Tensor& labels, double smoothing) {
    const at::Tensor in = hidden.to(factor.scalar_type()), label = labels.unsqueeze(1);
    const at::Tensor log_p = at::linear(in, factor, term).log_softmax(-1, at::kFloat);
    const double spread = smoothing / static_cast<double>(log_p.size(1));
    const at::Tensor loss = SumLoss(log_p, label, smoothing);
    at::Tensor g = log_p.exp_().scatter_add_(1, label, at::full(label.sizes(), smoothing - 1, log_p.options()));
    if (smoothing > 0) g.sub_(spread);
    ctx->save_for_backward({in, weight, factor, g.to(factor.scalar_type())});
    return loss;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const double scale = gradients[0].item<double>();
    AddProduct(saved[1].grad(), saved[3], saved[0], scale);
    return {at::mm(saved[3], saved[2]).to(at::kFloat).mul_(scale), {}, {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor Linear(const Affine& w, const at::Tensor& x) {
  const at::Tensor &factor = w.weight.factor(), &term = w.bias.factor();
  if (!c10::GradMode::is_enabled()) return at::linear(x.to(factor.scalar_type()), factor, term);
  return LinearFunction::apply(x, w.weight.value, w.bias.value, factor, term);
}

at::Tensor Lookup(const at::Tensor& table, const at::Tensor& ids, int64_t pad) {
  return c10::GradMode::is_enabled() ? LookupFunction::apply(table, ids, pad) : at::embedding(table, ids);
}

at::Tensor LabelLoss(const Affine& w, const at::Tensor& hidden, const at::Tensor& labels, double smoothing) {
  const at::Tensor &factor = w.weight.factor(), &term = w.bias.factor();
  if (!c10::GradMode::is_enabled())
    return SumLoss(at::linear(hidden.to(factor.scalar_type()), factor, term).log_softmax(-1, at::kFloat), labels.unsqueeze(1),
                   smoothing);
  return LabelLossFunction::apply(hidden, w.weight.value, factor, term, labels, smoothing);
}

}  // namespace backplane::seq2seq
