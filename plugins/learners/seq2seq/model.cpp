#include "model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "backplane/plugin.hpp"
#include "bart.hpp"
#include "generate.hpp"
#include "torch/errors.hpp"

namespace backplane::seq2seq {
namespace {

// The host's tokens as LibTorch's ids.
at::Tensor Ids(const bp_tensor& tensor) {
  return at::from_blob(tensor.data, at::IntArrayRef(tensor.shape, tensor.ndim), at::IntArrayRef(tensor.strides, tensor.ndim),
                       at::TensorOptions(at::kInt))
      .to(at::kLong);
}

struct Texts {
  explicit Texts(const MicroBatch& batch)
      : source(Ids(*batch.source)), lengths(Ids(*batch.source_length)), mask(PaddingMask(lengths, source.size(1))) {}
  at::Tensor source, lengths, mask;
};

class Bart final : public Model {
 public:
  Bart(const BartConfig& config, const ModelOptions& options, const bp_host* host)
      : config_(config), options_(options), host_(host), layout_(config), flat_(at::zeros({layout_.size()}, at::kFloat)) {
    const int64_t n = layout_.trained();
    for (at::Tensor* buffer : {&first_, &second_}) *buffer = at::zeros({n}, at::kFloat);
    constants_ = BindWeights(config_, layout_, [&](const Parameter& p) { return Part(flat_, p).detach(); });
    for (int64_t i = 0; i < options_.workers; ++i) workers_.push_back(MakeWorker());
  }

  const Layout& layout() const override { return layout_; }
  float* weights() override { return flat_.data_ptr<float>(); }
  float* first_moment() override { return first_.data_ptr<float>(); }
  float* second_moment() override { return second_.data_ptr<float>(); }
  uint64_t updates() const override { return updates_; }
  void set_updates(uint64_t n) override { updates_ = n; }

  double Backward(int64_t worker, const MicroBatch& batch, double divisor, uint64_t seed) override {
    return torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode with_gradient(true);
      const Pass pass{.noise = Noise(seed), .recompute = options_.recompute, .bf16 = options_.bf16};
      at::Tensor loss;
      {
        const bp::PhaseScope phase(host_, "update_forward");
        loss = SummedLoss(workers_[static_cast<size_t>(worker)].weights, batch, pass, options_.label_smoothing) / divisor;
      }
      const bp::PhaseScope phase(host_, "update_backward");
      loss.backward();
      return loss.item<double>();
    });
  }

  void DropGradients() override {
    for (Worker& worker : workers_) worker.gradient.zero_();
  }

  double Step(double lr) override {
    return torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode no_gradient(false);
      at::Tensor gradient = workers_[0].gradient;
      for (size_t i = 1; i < workers_.size(); ++i) gradient.add_(workers_[i].gradient);
      const double norm = Norm(gradient);
      if (std::isfinite(norm)) {
        ++updates_;
        const double factor = options_.max_grad_norm / (norm + 1e-6);
        if (options_.max_grad_norm > 0 && factor < 1) gradient.mul_(factor);
        AdamW(lr, 0, layout_.decayed(), options_.weight_decay);
        AdamW(lr, layout_.decayed(), layout_.trained(), 0);
      }
      DropGradients();
      return norm;
    });
  }

  double Loss(const MicroBatch& batch) const override {
    return torch_common::WithTorchErrors([&] {
      const c10::AutoGradMode no_gradient(false);
      return SummedLoss(constants_, batch, {.bf16 = options_.bf16}, 0).item<double>();
    });
  }

  std::vector<std::vector<int64_t>> Write(const MicroBatch& sources, const GenerateOptions& options) const override {
    return torch_common::WithTorchErrors([&] {
      const Texts texts(sources);
      std::vector<std::vector<int64_t>> written;
      for (const Generated& made : Generate(config_, constants_, texts.source, texts.lengths, options))
        written.emplace_back(made.ids.begin() + 1, made.ids.end());
      return written;
    });
  }

 private:
  struct Worker {
    at::Tensor gradient;  // [layout.trained()]
    Weights weights;      // leaves over the shared buffer, their gradients over `gradient`
  };

  static at::Tensor Part(const at::Tensor& flat, const Parameter& p) { return flat.narrow(0, p.offset, p.size).view(p.shape); }

  Worker MakeWorker() {
    Worker worker{at::zeros({layout_.trained()}, at::kFloat), {}};
    worker.weights = BindWeights(config_, layout_, [&](const Parameter& p) {
      at::Tensor leaf = Part(flat_, p).detach();
      if (p.offset >= layout_.trained()) return leaf;
      leaf.set_requires_grad(true);
      leaf.mutable_grad() = Part(worker.gradient, p);  // backward() adds into it in place
      return leaf;
    });
    return worker;
  }

  // Of the labels of all texts; a decoder's input is the labels moved right behind the start token.
  at::Tensor SummedLoss(const Weights& weights, const MicroBatch& batch, const Pass& pass, double smoothing) const {
    const Texts texts(batch);
    const at::Tensor labels = Ids(*batch.label), lengths = Ids(*batch.label_length);
    const at::Tensor start = at::full({labels.size(0), 1}, config_.decoder_start_token_id, labels.options());
    const at::Tensor input = at::cat({start, labels.narrow(1, 0, labels.size(1) - 1)}, 1);
    const at::Tensor memory = Encode(config_, weights, texts.source, texts.mask, pass);
    const at::Tensor hidden = Decode(config_, weights, input, memory, texts.mask, pass);
    // The product with the vocabulary is the largest of all: only where there is a label.
    const at::Tensor places =
        at::arange(labels.size(1), labels.options()).lt(lengths.unsqueeze(1)).view({-1}).nonzero().squeeze(1);
    const at::Tensor logits = Logits(weights, hidden.reshape({-1, config_.d_model}).index_select(0, places), pass.bf16);
    return at::cross_entropy_loss(logits, labels.reshape({-1}).index_select(0, places), {}, at::Reduction::Sum, -100,
                                  smoothing);
  }

  static double Norm(const at::Tensor& gradient) {
    const float* values = gradient.data_ptr<float>();
    double lanes[8] = {};
    for (int64_t i = 0; i < gradient.numel(); ++i) lanes[i % 8] += double{values[i]} * values[i];
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    return std::sqrt(sum);
  }

  void AdamW(double lr, int64_t begin, int64_t end, double weight_decay) {
    const auto cut = [&](const at::Tensor& flat) { return flat.narrow(0, begin, end - begin); };
    at::_fused_adamw_({cut(flat_)}, {cut(workers_[0].gradient)}, {cut(first_)}, {cut(second_)}, {},
                      {at::full({}, static_cast<double>(updates_), at::kFloat)}, lr, options_.beta1, options_.beta2,
                      weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }

  BartConfig config_;
  ModelOptions options_;
  const bp_host* host_;
  Layout layout_;
  at::Tensor flat_, first_, second_;
  Weights constants_;
  std::vector<Worker> workers_;
  uint64_t updates_ = 0;
};

}  // namespace

std::unique_ptr<Model> MakeModel(const BartConfig& config, const ModelOptions& options, const bp_host* host) {
  return torch_common::WithTorchErrors([&] { return std::make_unique<Bart>(config, options, host); });
}

}  // namespace backplane::seq2seq
