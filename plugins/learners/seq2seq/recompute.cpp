#include "recompute.hpp"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace backplane::seq2seq {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Held : torch::CustomClassHolder {
  explicit Held(LayerFunction f) : run(std::move(f)) {}
  LayerFunction run;
};

// LibTorch's saved-tensor hooks need Python objects, so C++ only has the reentrant form, which calls backward() again.
struct RecomputeFunction : torch::autograd::Function<RecomputeFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& memory, const LayerFunction& run) {
    ctx->saved_data["run"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(run));
    ctx->save_for_backward({x, memory});
    return run(x, memory);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const auto leaf = [](const at::Tensor& of) { return of.detach().set_requires_grad(true); };
    const at::Tensor x = leaf(saved[0]), memory = leaf(saved[1]);
    {
      const c10::AutoGradMode on(true);
      const auto held = c10::static_intrusive_pointer_cast<Held>(ctx->saved_data["run"].toCapsule());
      torch::autograd::backward({held->run(x, memory)}, {gradients[0]});
    }
    return {x.grad(), memory.grad(), at::Tensor()};
  }
};

}  // namespace

at::Tensor Recompute(LayerFunction run, const at::Tensor& x, const at::Tensor& memory) {
  // apply() does not accept undefined tensors.
  return RecomputeFunction::apply(x, memory.defined() ? memory : at::empty({0}, x.options()), run);
}

}  // namespace backplane::seq2seq
