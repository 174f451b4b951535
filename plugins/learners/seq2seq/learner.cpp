#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "backplane/ext/gpus.h"
#include "backplane/parallel.hpp"
#include "backplane/rng.h"
#include "pretrained.hpp"
#include "state.hpp"
#include "torch/budget.hpp"
#include "torch/device.hpp"

namespace backplane::seq2seq {

namespace {

constexpr bp::MetricInfo kMetrics[] = {
    {"train/loss", "nat", -1, "cross-entropy per label token, as in the update"},
    {"train/grad_norm", nullptr, 0, "global norm before clipping"},
    {"train/lr", nullptr, 0, "learning rate"},
    {"train/real_tokens", "tokens", 0, "source and label tokens of an update"},
    {"train/padded_tokens", "tokens", 0, "computed tokens of an update, with padding"},
};

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const EnvShape& shape)
    : DataLearner(setup),
      options_(ReadOptions(setup.config, torch_common::HasCuda(), bp::GrantedGpus(setup.host))),
      shape_(shape),
      seed_(setup.seed),
      chosen_(ChooseConfig(options_, shape)),
      generate_(ChooseGeneration(options_, chosen_.generation, shape)),
      metrics_(setup.host, kMetrics) {
  TellIgnored(setup.host, setup.config);
  options_.save_pretrained = InTrialFolder(setup.host, options_.save_pretrained);
  torch_common::MeterCpuMemory();
  model_ = MakeModel(config_, options_, setup.host);
  if (options_.pretrained.empty()) {
    InitWeights(config_, model_->layout(), seed_, model_->weights());
  } else {
    try {
      ReadWeights(options_.pretrained, model_->layout(), model_->weights());
    } catch (const std::runtime_error& e) {
      throw bp::ConfigError(e.what());
    }
  }
  for (const std::string& name : {shape.source, shape.source_length}) spec_.ActIn(name);
  spec_.ActOut(shape.action_channel);
  spec_.set_params(static_cast<uint64_t>(model_->layout().trained()));
  spec_.set_evaluation_rows(static_cast<uint32_t>(options_.eval_batch_size));
  if (options_.device.type == BP_DEVICE_CPU && !config_.is_mbart)
    spec_.set_flags(BP_LEARNER_ROW_EXACT | BP_LEARNER_HELD_OUT_ANY);
  shape_.action_channel = {};  // drop pointers that may become invalid
  if (options_.device.type == BP_DEVICE_CUDA) bp::UseGpu(setup.host);
  bp::RecordFact(setup.host, "device", options_.device.type == BP_DEVICE_CUDA ? "cuda" : "cpu");
  bp::RecordFact(setup.host, "precision", options_.bf16 ? "bf16" : options_.fp16 ? "fp16" : "fp32");
  if (!options_.fp16) return;
  metrics_.Declare({"train/loss_scale", nullptr, 0, "scale of the loss in float16"});
  metrics_.Declare({"train/skipped_updates", nullptr, -1, "updates skipped because float16 overflowed, in total"});
}

void Learner::Save(const bp::Writer& writer) const {
  WriteState(writer, model_->layout(), {model_->weights(), model_->first_moment(), model_->second_moment()}, model_->updates());
  if (const rl::LossScaler* scaler = model_->scaler()) scaler->Save(writer), writer.Put(skipped_before_);
  if (options_.save_pretrained.empty()) return;
  try {
    SavePretrained(options_.save_pretrained, config_, model_->layout(), model_->weights(), chosen_.generation.json);
  } catch (const std::runtime_error& e) {
    throw bp::Error(BP_E_IO, std::string("save_pretrained: ") + e.what());
  }
}

void Learner::Load(const bp::Reader& reader) {
  model_->set_updates(
      ReadState(reader, model_->layout(), {model_->weights(), model_->first_moment(), model_->second_moment()}));
  if (rl::LossScaler* scaler = model_->scaler()) {
    *scaler = {}, skipped_before_ = 0;
    try {
      scaler->Load(reader), skipped_before_ = reader.Get<uint64_t>();
    } catch (const bp::Error& e) {
      if (e.code() != BP_E_IO) throw;
      *scaler = {};  // a state of a stage in another precision
    }
    if (skipped_before_ > scaler->skipped()) rl::RefuseSaved("skipped updates", "at most all of them", skipped_before_);
  }
  DropGroup();
}

void Learner::Tensors(bp::NamedTensors* out) const {
  if (options_.device.type != BP_DEVICE_CPU) return;
  for (const Parameter& parameter : model_->layout().parameters())
    out->Add(parameter.name, model_->weights() + parameter.offset, parameter.shape);
  out->Add("adamw.m", model_->first_moment(), {model_->layout().trained()});
  out->Add("adamw.v", model_->second_moment(), {model_->layout().trained()});
  out->AddNumber("adamw.updates", model_->updates());
}

void Learner::OnLimits(const bp_limits& limits) {
  if (const rl::LossScaler* scaler = model_->scaler(); scaler && UpdatesDone() == 0) skipped_before_ = scaler->skipped();
  const uint64_t live = DeviceUse().live_bytes;
  if (limits.device_bytes > 0 && live > limits.device_bytes) {
    throw bp::Error(BP_E_OOM_DEVICE, "weights, gradients and AdamW's moments need " + std::to_string(live) +
                                         " bytes, but the device has " + std::to_string(limits.device_bytes));
  }
  const bool limited = torch_common::LimitMemory(options_.device, limits.device_bytes);
  if (!limited && limits.device_bytes > 0 && !std::exchange(told_no_limit_, true)) {
    host()->log(host(), BP_LOG_WARN,
                "resources.device_memory does not limit the GPU here, because the program that loaded LibTorch set no limit");
  }
  total_updates_ = UpdatesInAll(options_.sizes.group);
  if (options_.warmup_steps > 0 && options_.warmup_steps < 1 && total_updates_ == 0)
    throw bp::ConfigError("warmup_steps: below 1 it is a share of all updates; set budget.iterations or budget.epochs");
}

bp::DataRequest Learner::NextGroup() {
  return {.micro_batch = options_.sizes.micro,
          .group = options_.sizes.group,
          .sort = options_.sort,
          .drop_last = options_.drop_last};
}

MicroBatch Learner::View(const bp::Delivery& delivery) const {
  const auto find = [&](const std::string& name) {
    const bp_tensor* tensor = delivery.Find(name.c_str());
    if (!tensor) throw bp::Error(BP_E_INVALID_ARG, "the delivery has no tensor '" + name + "'");
    return tensor;
  };
  const MicroBatch batch{find(shape_.source), find(shape_.source_length), find(shape_.label), find(shape_.label_length)};
  // A probe's texts are artificial and of maximum length: their labels may end with padding.
  if (!(delivery.raw().flags & BP_DELIVERY_PROBE)) batch.NeedIdsOf(config_);
  return batch;
}

void Learner::OnMicroBatch(const bp::Delivery& delivery) {
  const bp_delivery& raw = delivery.raw();
  if (raw.index == 0) DropGroup(), losses_.assign(raw.count, 0);
  const bool last = raw.flags & BP_DELIVERY_LAST_IN_GROUP;
  try {
    pending_.push_back(View(delivery));
    if (raw.index == 0) NeedWantedSize(raw, pending_.front());
    if (!last && pending_.size() < static_cast<size_t>(options_.workers)) return;
    RunPending(raw);
  } catch (...) {
    DropGroup();
    throw;
  }
  if (!last) return;
  if (raw.flags & BP_DELIVERY_PROBE) {
    DropGroup();
  } else {
    Update();
  }
}

// If an update did not fit, the host repeats it in smaller micro-batches. That is the same update only for a mean over its
// tokens.
void Learner::NeedWantedSize(const bp_delivery& first, const MicroBatch& batch) const {
  const auto size = static_cast<uint64_t>(batch.size());
  if (!options_.mean_of_means() || first.count == 1 || size >= options_.sizes.micro) return;
  throw bp::ConfigError("per_device_train_batch_size: " + std::to_string(options_.sizes.micro) +
                        " items did not fit into the device's memory, and " + std::to_string(size) +
                        " would change the objective under loss_normalization: microbatch_mean; set a size that fits, or "
                        "loss_normalization: token");
}

// Worker k mod workers processes micro-batch k, or, if the cost of a text is its length, all texts are redistributed. Sums are
// added in order, so the bits are always the same.
void Learner::RunPending(const bp_delivery& last) {
  const uint64_t first = last.index + 1 - pending_.size();
  const uint64_t group_seed = bp_seed(seed_, BP_PURPOSE_LEARNER, 3, model_->updates());
  const bool dealt = pending_.size() > 1 && !model_->pads() && !options_.mean_of_means();
  bp::ParallelFor(host(), pending_.size(), [&](uint64_t i) {
    const MicroBatch& batch = pending_[i];
    const auto tokens = static_cast<double>(batch.LabelTokens());
    const double divisor = options_.mean_of_means() ? tokens * last.count : last.group_weight;
    const uint64_t seed = bp_seed(group_seed, BP_PURPOSE_LEARNER, 0, first + i);
    losses_[first + i] = dealt ? model_->BackwardOfShare(static_cast<int64_t>(i), pending_, divisor, seed)
                               : model_->Backward(static_cast<int64_t>(i), batch, divisor, seed);
  });
  for (const MicroBatch& batch : pending_) {
    real_tokens_ += static_cast<double>(batch.RealTokens());
    padded_tokens_ += static_cast<double>(model_->pads() ? batch.PaddedTokens() : batch.RealTokens());
  }
  pending_.clear();
}

void Learner::DropGroup() {
  pending_.clear(), losses_.clear();
  ForgetTokens();
  model_->DropGradients();
}

void Learner::Update() {
  const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_OPTIM);
  const double loss = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  const double lr =
      options_.learning_rate * LrFactor(options_.schedule, StepsDone(), WarmupUpdates(options_.warmup_steps, total_updates_),
                                        total_updates_, progress());
  const double norm = model_->Step(lr);
  if (const rl::LossScaler* scaler = model_->scaler()) {
    metrics_.Record("train/loss_scale", scaler->scale());
    metrics_.Record("train/skipped_updates", static_cast<double>(scaler->skipped()));
    if (!std::isfinite(norm)) return ForgetTokens();
  }
  for (const auto& [name, value] : {std::pair("loss", loss), {"gradient's norm", norm}}) {
    if (!std::isfinite(value)) {
      throw bp::Error(BP_E_NUMERIC, std::string("the ") + name + " of update " + std::to_string(UpdatesDone() + 1) +
                                        " is not finite; use a smaller learning_rate or a longer warm-up");
    }
  }
  metrics_.Record("train/loss", loss);
  metrics_.Record("train/grad_norm", norm);
  metrics_.Record("train/lr", lr);
  metrics_.Record("train/real_tokens", real_tokens_);
  metrics_.Record("train/padded_tokens", padded_tokens_);
  ForgetTokens();
}

// A skipped update is no step of the schedule.
uint64_t Learner::StepsDone() const {
  const rl::LossScaler* scaler = model_->scaler();
  return UpdatesDone() - (scaler ? std::min(UpdatesDone(), scaler->skipped() - skipped_before_) : 0);
}

double Learner::HeldOutLoss(const bp::Delivery& micro_batch) const { return model_->Loss(View(micro_batch)); }

void Learner::Act(const bp_act& act) {
  // If a batch does not fit into memory, halve it; the next call starts with the full size again, because other threads may
  // have occupied the memory.
  uint64_t at_once = options_.eval_batch_size;
  for (uint64_t begin = act.begin; begin < act.end;) {
    const uint64_t n = std::min(at_once, act.end - begin);
    try {
      WriteRows(act, begin, static_cast<int64_t>(n));
      begin += n;
    } catch (const bp::Error& e) {
      if (e.code() != BP_E_OOM_DEVICE || n == 1) throw;
      at_once = n / 2;
    }
  }
}

void Learner::WriteRows(const bp_act& act, uint64_t begin, int64_t n) const {
  // Rows [begin, begin + n) of a whole channel.
  const auto rows = [begin](const bp_tensor& whole, int64_t* shape) {
    bp_tensor part = whole;
    part.data = static_cast<char*>(whole.data) + begin * static_cast<uint64_t>(whole.strides[0]) * sizeof(int32_t);
    part.shape = shape;
    return part;
  };
  int64_t text_shape[] = {n, 0}, length_shape[] = {n};
  const bp_tensor lengths = rows(*act.in[1], length_shape);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t length = static_cast<const int32_t*>(lengths.data)[i * lengths.strides[0]];
    text_shape[1] = std::max(text_shape[1], int64_t{length});
  }
  const bp_tensor texts = rows(*act.in[0], text_shape);
  const auto written = model_->Write({&texts, &lengths}, generate_);
  const bp_tensor& out = *act.out[0];
  for (int64_t i = 0; i < n; ++i) {
    int32_t* ids = static_cast<int32_t*>(out.data) + (static_cast<int64_t>(begin) + i) * out.strides[0];
    std::fill(std::copy(written[i].begin(), written[i].end(), ids), ids + shape_.max_generated,
              static_cast<int32_t>(config_.pad_token_id));
  }
}

bp_device_use Learner::DeviceUse() const { return torch_common::DeviceUse(options_.device); }

void Learner::ResetPeak() { torch_common::ResetPeak(options_.device); }

}  // namespace backplane::seq2seq
