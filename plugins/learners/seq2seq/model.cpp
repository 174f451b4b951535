#include "model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "adamw.hpp"
#include "backplane/parallel.hpp"
#include "backplane/plugin.hpp"
#include "bart.hpp"
#include "encoded_texts.hpp"
#include "generate.hpp"
#include "torch/at_device.hpp"
#include "torch/device.hpp"
#include "torch/errors.hpp"
#include "training.hpp"

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
    if (!copy_.defined()) copy_ = values_.cpu();  // no copy if already there
    return copy_.data_ptr<float>();
  }
  // Applies changes written at that address.
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
    if (IsLow())
      low_ = at::zeros({layout_.size()}, at::TensorOptions(device_).dtype(options_.fp16 ? at::kHalf : at::kBFloat16));
    if (options_.fp16) scaler_.emplace();
    constants_ = BindWeights(config_, layout_, [&](const Parameter& p) {
      return Weight{Part(flat_.values(), p).detach(), {}};
    });
    for (int64_t i = 0; i < options_.workers; ++i) workers_.push_back(MakeWorker());
  }

  const Layout& layout() const override { return layout_; }
  bool pads() const override { return !TrainsByOwnProducts(); }
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
      const Pass pass{.noise = Noise(seed), .recompute = options_.recompute};
      const Weights& weights = workers_[static_cast<size_t>(worker)].weights;
      has_gradient_ = true;
      Renew();
      if (TrainsByOwnProducts()) return TrainOn(weights, batch.Sources(), batch.Labels(), pass, divisor);
      const c10::AutoGradMode with_gradient(true);
      at::Tensor loss;
      {
        const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
        loss = SummedLoss(weights, batch, pass, options_.label_smoothing) / divisor;
      }
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_BACKWARD);
      (scaler_ ? loss * scaler_->scale() : loss).backward();
      return loss.item<double>();
    });
  }

  double BackwardOfShare(int64_t worker, std::span<const MicroBatch> batches, double divisor, uint64_t seed) override {
    return Run([&] {
      has_gradient_ = true;
      Renew();
      std::vector<std::span<const int32_t>> sources, labels;
      const auto workers = static_cast<int64_t>(batches.size());
      int64_t text = 0;
      for (const MicroBatch& batch : batches) {
        const auto all_sources = batch.Sources(), all_labels = batch.Labels();
        for (size_t i = 0; i < all_sources.size(); ++i, ++text) {
          const int64_t place = text % (2 * workers), of = place < workers ? place : 2 * workers - 1 - place;
          if (of == worker) sources.push_back(all_sources[i]), labels.push_back(all_labels[i]);
        }
      }
      const Pass pass{.noise = Noise(seed), .recompute = options_.recompute};
      return TrainOn(workers_[static_cast<size_t>(worker)].weights, sources, labels, pass, divisor);
    });
  }

  void DropGradients() override {
    if (!has_gradient_.exchange(false)) return;
    if (device_.is_cpu()) {
      SetToZero(host_, Gradients(), layout_.trained());
    } else {
      for (Worker& worker : workers_) worker.gradient.zero_();
    }
  }

  rl::LossScaler* scaler() override { return scaler_ ? &*scaler_ : nullptr; }

  double Step(double lr) override {
    return Run([&] {
      const c10::AutoGradMode no_gradient(false);
      Renew();
      const double scale = scaler_ ? scaler_->scale() : 1;
      const double norm = (device_.is_cpu() ? SumGradients(host_, Gradients(), layout_.trained())
                                            : workers_[0].gradient.norm().item<double>()) /  // there one worker is all
                          scale;
      if (std::isfinite(norm)) {
        ++updates_, copies_are_old_ = true;
        packed_.reset();
        const double quotient = options_.max_grad_norm / (norm + 1e-6);
        AdamW(lr, (options_.max_grad_norm > 0 && quotient < 1 ? quotient : 1) / scale);
      }
      DropGradients();
      PackOnAllThreads();
      if (scaler_) scaler_->Update(!std::isfinite(norm), "a smaller learning_rate, a longer warm-up or bf16 may help");
      return norm;
    });
  }

  double Loss(const MicroBatch& batch) const override {
    return Run([&] {
      const c10::AutoGradMode no_gradient(false);
      Renew();
      if (ReadsByOwnProducts()) return ExactSum(Packed()->LabelLosses(batch.Sources(), batch.Labels()));
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
  struct Trained {
    Parameter parameter;
    PackedWeight packed;
  };

  // After running out of memory, empties the cache so that smaller tensors find all free memory.
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
    if (ReadsByOwnProducts()) {
      const std::shared_ptr<TextReader> reader = Packed();
      EncodedTexts texts(reader->network(), sources.Sources());
      std::vector<Generated> written = Generate(config_, reader->network(), texts.sources(), options);
      reader->Keep(std::move(texts));
      return written;
    }
    const Texts texts(sources, device_);
    return Generate(config_, constants_, texts.source, texts.lengths, options);
  }

  // The current weights, packed once and shared by all generation. Thread-safe.
  std::shared_ptr<TextReader> Packed() const {
    const std::lock_guard lock(renewing_);
    if (!packed_) packed_ = std::make_shared<TextReader>(config_, layout_, flat_.values().data_ptr<float>());
    return packed_;
  }

  bool IsLow() const { return options_.bf16 || options_.fp16; }
  // Our own passes are post-norm.
  bool ReadsByOwnProducts() const { return device_.is_cpu() && !config_.is_mbart; }
  bool TrainsByOwnProducts() const { return ReadsByOwnProducts() && !IsLow(); }

  double TrainOn(const Weights& weights, const std::vector<std::span<const int32_t>>& sources,
                 const std::vector<std::span<const int32_t>>& labels, const Pass& pass, double divisor) const {
    const c10::AutoGradMode no_gradient(false);
    Training training(config_, weights, pass, options_.label_smoothing);
    double loss = 0;
    {
      const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_FORWARD);
      loss = training.Forward(sources, labels, divisor);
    }
    const bp::PhaseScope phase(host_, BP_PHASE_UPDATE_BACKWARD);
    training.Backward();
    return loss;
  }

  static at::Tensor Part(const at::Tensor& flat, const Parameter& p) { return flat.narrow(0, p.offset, p.size).view(p.shape); }

  Worker MakeWorker() {
    Worker worker{at::zeros({layout_.trained()}, flat_.values().options()), {}};
    worker.weights = BindWeights(config_, layout_, [&](const Parameter& p) {
      Weight weight{Part(flat_.values(), p).detach(), IsLow() ? Part(low_, p) : at::Tensor(), PackedOf(p)};
      if (p.offset >= layout_.trained()) return weight;
      weight.value.set_requires_grad(true);
      weight.value.mutable_grad() = Part(worker.gradient, p);  // backward() adds into it in place
      return weight;
    });
    return worker;
  }

  // Shared by all workers; NULL if LibTorch computes the products.
  const PackedWeight* PackedOf(const Parameter& p) {
    if (!TrainsByOwnProducts() || p.shape.size() != 2) return nullptr;
    return &for_training_.try_emplace(p.offset, Trained{p, {}}).first->second.packed;
  }

  void Pack(Trained* one) const {
    const Parameter& p = one->parameter;
    one->packed.Set(flat_.values().data_ptr<float>() + p.offset, p.shape[0], p.shape[1]);
  }

  // Done before the next micro-batch, because its threads cannot share the packing in Renew.
  void PackOnAllThreads() {
    if (!TrainsByOwnProducts()) return;
    std::vector<Trained*> all;
    for (auto& [offset, one] : for_training_) all.push_back(&one);
    bp::ParallelFor(host_, all.size(), [&](uint64_t i) { Pack(all[i]); });
    copies_are_old_ = false;
  }

  // Before anything is computed. Weights are rounded and packed once after each change, and not in each micro-batch.
  void Renew() const {
    const std::lock_guard lock(renewing_);
    for (Flat* each : {&flat_, &first_, &second_}) each->Settle();
    if (!std::exchange(copies_are_old_, false)) return;
    if (IsLow()) low_.copy_(flat_.values());
    for (auto& [offset, one] : for_training_) Pack(&one);
  }

  // The loss over all texts' labels; the decoder's input is the labels shifted right after the start token.
  at::Tensor SummedLoss(const Weights& weights, const MicroBatch& batch, const Pass& pass, double smoothing) const {
    const Texts texts(batch, device_);
    const at::Tensor labels = Ids(*batch.label, device_), lengths = Ids(*batch.label_length, device_);
    const at::Tensor start = at::full({labels.size(0), 1}, config_.decoder_start_token_id, labels.options());
    const at::Tensor input = at::cat({start, labels.narrow(1, 0, labels.size(1) - 1)}, 1);
    // The product with the vocabulary is the largest, so restrict it to labels. Count them before the layers: reading the count
    // from a GPU waits for all queued work.
    const at::Tensor places =
        at::arange(labels.size(1), labels.options()).lt(lengths.unsqueeze(1)).view({-1}).nonzero().squeeze(1);
    const at::Tensor memory = Encode(config_, weights, texts.source, texts.mask, pass);
    const at::Tensor hidden = Decode(config_, weights, input, memory, texts.mask, pass);
    return LabelLoss(weights.output, hidden.reshape({-1, config_.d_model}).index_select(0, places),
                     labels.reshape({-1}).index_select(0, places), smoothing);
  }

  // On the CPU.
  std::vector<float*> Gradients() const {
    std::vector<float*> gradients;
    for (const Worker& worker : workers_) gradients.push_back(worker.gradient.data_ptr<float>());
    return gradients;
  }

  void AdamW(double lr, double factor) {
    if (device_.is_cpu()) {
      const auto at = [](const at::Tensor& values) { return values.data_ptr<float>(); };
      const AdamWStep step{lr,     options_.beta1, options_.beta2,   options_.epsilon, options_.weight_decay,
                           factor, updates_,       layout_.decayed()};
      StepAdamW(host_, step, layout_.trained(), Gradients()[0], at(first_.values()), at(second_.values()), at(flat_.values()));
      return;
    }
    if (factor != 1) workers_[0].gradient.mul_(factor);
    AdamWOnGpu(lr, 0, layout_.decayed(), options_.weight_decay);
    AdamWOnGpu(lr, layout_.decayed(), layout_.trained(), 0);
  }

  void AdamWOnGpu(double lr, int64_t begin, int64_t end, double weight_decay) {
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
  mutable Flat flat_, first_, second_;               // settled by calls that do not change values
  at::Tensor low_;                                   // the weights in bfloat16 or float16
  mutable std::map<int64_t, Trained> for_training_;  // by offset
  mutable bool copies_are_old_ = true;               // the weights are newer than `low_` and `for_training_`
  mutable std::shared_ptr<TextReader> packed_;       // NULL: not yet packed since the weights changed
  mutable std::mutex renewing_;
  Weights constants_;
  std::vector<Worker> workers_;
  std::atomic<bool> has_gradient_ = false;  // otherwise all gradients are 0
  std::optional<rl::LossScaler> scaler_;
  uint64_t updates_ = 0;
};

}  // namespace

std::unique_ptr<Model> MakeModel(const BartConfig& config, const ModelOptions& options, const bp_host* host) {
  return torch_common::WithTorchErrors([&] { return std::make_unique<Bart>(config, options, host); });
}

}  // namespace backplane::seq2seq
