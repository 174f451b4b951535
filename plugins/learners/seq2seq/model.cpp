#include "model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "backplane/plugin.hpp"
#include "bart.hpp"
#include "encoded_texts.hpp"
#include "generate.hpp"
#include "torch/at_device.hpp"
#include "torch/device.hpp"
#include "torch/errors.hpp"

namespace backplane::seq2seq {
namespace {

// The host's tokens as LibTorch's ids.
at::Tensor Ids(const bp_tensor& tensor, at::Device device) { return torch_common::Borrow(tensor).to(device, at::kLong); }

struct Texts {
  Texts(const MicroBatch& batch, at::Device device)
      : source(Ids(*batch.source, device)),
        lengths(Ids(*batch.source_length, device)),
        mask(PaddingMask(lengths, source.size(1))) {}
  at::Tensor source, lengths, mask;
};

// In steps of 2^-24 nat, of which sums are exact: the same however the texts are cut.
double ExactSum(const std::vector<double>& losses) {
  constexpr double kSteps = 1 << 24;
  double sum = 0;
  for (const double loss : losses) sum += std::round(loss * kSteps) / kSteps;
  return sum;
}

// A flat buffer of float32 on a device, for which others have an address on the CPU.
class Flat {
 public:
  Flat(int64_t n, at::Device device) : values_(at::zeros({n}, at::TensorOptions(device).dtype(at::kFloat))) {}
  const at::Tensor& values() const { return values_; }
  float* OnCpu() {
    if (!copy_.defined()) copy_ = values_.cpu();  // itself where it is there
    return copy_.data_ptr<float>();
  }
  // Takes over what was written at that address.
  void Settle() {
    if (copy_.defined() && !copy_.is_same(values_)) values_.copy_(copy_);
    copy_.reset();
  }

 private:
  at::Tensor values_, copy_;
};

class Bart final : public Model {
 public:
  Bart(const BartConfig& config, const ModelOptions& options, const bp_host* host)
      : config_(config),
        options_(options),
        device_(torch_common::DeviceOf(options.device)),
        host_(host),
        layout_(config),
        flat_(layout_.size(), device_),
        first_(layout_.trained(), device_),
        second_(layout_.trained(), device_) {
    if (options_.bf16) low_ = at::zeros({layout_.size()}, at::TensorOptions(device_).dtype(at::kBFloat16));
    constants_ = BindWeights(config_, layout_, [&](const Parameter& p) {
      return Weight{Part(flat_.values(), p).detach(), {}};
    });
    for (int64_t i = 0; i < options_.workers; ++i) workers_.push_back(MakeWorker());
  }

  const Layout& layout() const override { return layout_; }
  float* weights() override {
    copies_are_old_ = true;
    packed_.reset();
    return flat_.OnCpu();
  }
  float* first_moment() override { return first_.OnCpu(); }
  float* second_moment() override { return second_.OnCpu(); }
  uint64_t updates() const override { return updates_; }
  void set_updates(uint64_t n) override { updates_ = n; }

  double Backward(int64_t worker, const MicroBatch& batch, double divisor, uint64_t seed) override {
    return Run([&] {
      const c10::AutoGradMode with_gradient(true);
      const Pass pass{.noise = Noise(seed), .recompute = options_.recompute};
      Renew();
      at::Tensor loss;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
        loss = SummedLoss(workers_[static_cast<size_t>(worker)].weights, batch, pass, options_.label_smoothing) / divisor;
      }
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_BACKWARD);
      loss.backward();
      return loss.item<double>();
    });
  }

  void DropGradients() override {
    for (Worker& worker : workers_) worker.gradient.zero_();
  }

  double Step(double lr) override {
    return Run([&] {
      const c10::AutoGradMode no_gradient(false);
      Renew();
      at::Tensor gradient = workers_[0].gradient;
      for (size_t i = 1; i < workers_.size(); ++i) gradient.add_(workers_[i].gradient);
      const double norm = Norm(gradient);
      if (std::isfinite(norm)) {
        ++updates_, copies_are_old_ = true;
        packed_.reset();
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
    return Run([&] {
      const c10::AutoGradMode no_gradient(false);
      Renew();
      if (device_.is_cpu()) return ExactSum(Packed()->LabelLosses(batch.Sources(), batch.Labels()));
      return SummedLoss(workers_[0].weights, batch, {}, 0).item<double>();
    });
  }

  std::vector<std::vector<int64_t>> Write(const MicroBatch& sources, const GenerateOptions& options) const override {
    return Run([&] {
      Renew();
      std::vector<std::vector<int64_t>> written;
      for (const Generated& made : WriteAll(sources, options)) written.emplace_back(made.ids.begin() + 1, made.ids.end());
      return written;
    });
  }

 private:
  struct Worker {
    at::Tensor gradient;  // [layout.trained()]
    Weights weights;      // leaves over the shared buffer, their gradients over `gradient`
  };

  // Where memory was short, smaller tensors shall find all that can be had.
  template <class Body>
  std::invoke_result_t<Body> Run(Body&& body) const {
    try {
      return torch_common::WithTorchErrors(body);
    } catch (const bp::Error& e) {
      if (e.code() == BP_E_OOM_DEVICE) torch_common::EmptyCache(options_.device);
      throw;
    }
  }

  std::vector<Generated> WriteAll(const MicroBatch& sources, const GenerateOptions& options) const {
    if (device_.is_cpu()) {
      const std::shared_ptr<TextReader> reader = Packed();
      EncodedTexts texts(reader->network(), sources.Sources());
      std::vector<Generated> written = Generate(config_, reader->network(), texts.sources(), options);
      reader->Keep(std::move(texts));
      return written;
    }
    const Texts texts(sources, device_);
    return Generate(config_, constants_, texts.source, texts.lengths, options);
  }

  // The weights as they are now, packed once for all that is written with them. Several threads may ask at once.
  std::shared_ptr<TextReader> Packed() const {
    const std::lock_guard lock(renewing_);
    if (!packed_) packed_ = std::make_shared<TextReader>(config_, layout_, flat_.values().data_ptr<float>());
    return packed_;
  }

  static at::Tensor Part(const at::Tensor& flat, const Parameter& p) { return flat.narrow(0, p.offset, p.size).view(p.shape); }

  Worker MakeWorker() {
    Worker worker{at::zeros({layout_.trained()}, flat_.values().options()), {}};
    worker.weights = BindWeights(config_, layout_, [&](const Parameter& p) {
      Weight weight{Part(flat_.values(), p).detach(), options_.bf16 ? Part(low_, p) : at::Tensor(), PackedOf(p)};
      if (p.offset >= layout_.trained()) return weight;
      weight.value.set_requires_grad(true);
      weight.value.mutable_grad() = Part(worker.gradient, p);  // backward() adds into it in place
      return weight;
    });
    return worker;
  }

  // One for all workers; NULL where products are LibTorch's.
  const PackedWeight* PackedOf(const Parameter& p) {
    if (!device_.is_cpu() || options_.bf16 || p.shape.size() != 2) return nullptr;
    return &for_training_.try_emplace(p.offset, Trained{p, {}}).first->second.packed;
  }

  // Before anything is computed. Weights are rounded and packed once after each change, and not in each micro-batch.
  void Renew() const {
    const std::lock_guard lock(renewing_);
    for (Flat* each : {&flat_, &first_, &second_}) each->Settle();
    if (!std::exchange(copies_are_old_, false)) return;
    if (options_.bf16) low_.copy_(flat_.values());
    for (auto& [offset, one] : for_training_)
      one.packed.Set(flat_.values().data_ptr<float>() + offset, one.parameter.shape[0], one.parameter.shape[1]);
  }

  // Of the labels of all texts; a decoder's input is the labels moved right behind the start token.
  at::Tensor SummedLoss(const Weights& weights, const MicroBatch& batch, const Pass& pass, double smoothing) const {
    const Texts texts(batch, device_);
    const at::Tensor labels = Ids(*batch.label, device_), lengths = Ids(*batch.label_length, device_);
    const at::Tensor start = at::full({labels.size(0), 1}, config_.decoder_start_token_id, labels.options());
    const at::Tensor input = at::cat({start, labels.narrow(1, 0, labels.size(1) - 1)}, 1);
    // The product with the vocabulary is the largest of all: only where there is a label. Before the layers, as a GPU first
    // does all that it was asked for when it is asked how many these are.
    const at::Tensor places =
        at::arange(labels.size(1), labels.options()).lt(lengths.unsqueeze(1)).view({-1}).nonzero().squeeze(1);
    const at::Tensor memory = Encode(config_, weights, texts.source, texts.mask, pass);
    const at::Tensor hidden = Decode(config_, weights, input, memory, texts.mask, pass);
    return LabelLoss(weights.output, hidden.reshape({-1, config_.d_model}).index_select(0, places),
                     labels.reshape({-1}).index_select(0, places), smoothing);
  }

  static double Norm(const at::Tensor& gradient) {
    if (!gradient.is_cpu()) return gradient.norm().item<double>();
    const float* values = gradient.data_ptr<float>();
    double lanes[8] = {};
    for (int64_t i = 0; i < gradient.numel(); ++i) lanes[i % 8] += double{values[i]} * values[i];
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    return std::sqrt(sum);
  }

  void AdamW(double lr, int64_t begin, int64_t end, double weight_decay) {
    const auto cut = [&](const at::Tensor& flat) { return flat.narrow(0, begin, end - begin); };
    at::_fused_adamw_({cut(flat_.values())}, {cut(workers_[0].gradient)}, {cut(first_.values())}, {cut(second_.values())}, {},
                      {at::full({}, static_cast<double>(updates_), flat_.values().options())}, lr, options_.beta1,
                      options_.beta2, weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }

  BartConfig config_;
  ModelOptions options_;
  at::Device device_;
  const bp_host* host_;
  Layout layout_;
  mutable Flat flat_, first_, second_;  // settled by calls that change no number
  at::Tensor low_;                      // the weights in bfloat16
  struct Trained {
    Parameter parameter;
    PackedWeight packed;
  };
  mutable std::map<int64_t, Trained> for_training_;  // by offset
  mutable bool copies_are_old_ = true;               // the weights have changed since `low_` and `for_training_` were made
  mutable std::shared_ptr<TextReader> packed_;       // NULL: nothing was written since the weights changed
  mutable std::mutex renewing_;
  Weights constants_;
  std::vector<Worker> workers_;
  uint64_t updates_ = 0;
};

}  // namespace

std::unique_ptr<Model> MakeModel(const BartConfig& config, const ModelOptions& options, const bp_host* host) {
  return torch_common::WithTorchErrors([&] { return std::make_unique<Bart>(config, options, host); });
}

}  // namespace backplane::seq2seq
