#include "trial/fingerprint_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "backplane/ext/tensors.h"
#include "base/hash64.hpp"
#include "record/results_folder.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {
namespace {

// NULL: no phase. Channels that the learner writes for itself affect its weights, which are hashed.
const char* PhaseOf(uint16_t role) {
  switch (role) {
    case BP_ROLE_OBS:
    case BP_ROLE_STATE:
    case BP_ROLE_ACTION_MASK:
    case BP_ROLE_ALIVE:
    case BP_ROLE_LENGTH: return kObserved;
    case BP_ROLE_ACTION: return kActed;
    case BP_ROLE_REWARD:
    case BP_ROLE_TERMINATED:
    case BP_ROLE_TRUNCATED: return kRewarded;
    default: return nullptr;
  }
}

// Dense except for the stride of dimension 0.
uint64_t HashOfTensor(const bp_tensor& tensor) {
  uint64_t row_bytes = tensor.dtype.bits / 8;
  for (int32_t d = 1; d < tensor.ndim; ++d) row_bytes *= static_cast<uint64_t>(tensor.shape[d]);
  const auto* data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  const uint64_t rows = tensor.ndim == 0 ? 1 : static_cast<uint64_t>(tensor.shape[0]);
  const uint64_t stride = rows > 1 ? static_cast<uint64_t>(tensor.strides[0]) * (tensor.dtype.bits / 8) : row_bytes;
  if (stride == row_bytes) return Hash64Of(data, rows * row_bytes);
  Hash64 hash;
  for (uint64_t r = 0; r < rows; ++r) hash.Add(data + r * stride, row_bytes);
  return hash.Value();
}

void AddDense(const bp_tensor& tensor, Hash64* hash) {
  uint64_t bytes = tensor.dtype.bits / 8;
  for (int32_t d = 0; d < tensor.ndim; ++d) bytes *= static_cast<uint64_t>(tensor.shape[d]);
  if (bytes > 0) hash->Add(static_cast<const std::byte*>(tensor.data) + tensor.byte_offset, bytes);
}

std::optional<std::string> WhyNotRowMajor(const bp_tensor& tensor) {
  int64_t dense = 1;
  for (int32_t d = tensor.ndim - 1; d >= 0; --d) {
    const bool is_dense = tensor.strides[d] == dense || tensor.shape[d] == 1;
    if (!is_dense && (d > 0 || tensor.strides[d] < dense))
      return fmt::format("expected row-major memory, got stride {} of dimension {}", tensor.strides[d], d);
    dense *= tensor.shape[d];
  }
  return std::nullopt;
}

// A sentence if the host cannot read a tensor of the learner; absent if it can.
std::optional<std::string> WhyNotRead(const bp_tensor* told) {
  if (told == nullptr) return "expected a tensor, got NULL";
  const bp_tensor& tensor = *told;
  if (tensor.device.type != BP_DEVICE_CPU)
    return fmt::format("expected host memory, got memory of device type {}", tensor.device.type);
  if (tensor.ndim < 0 || (tensor.ndim > 0 && (tensor.shape == nullptr || tensor.strides == nullptr)))
    return fmt::format("expected {} sizes and strides, got none", tensor.ndim);
  const std::span<const int64_t> sizes(tensor.shape, static_cast<size_t>(tensor.ndim));
  if (const auto size = std::ranges::find_if(sizes, [](int64_t one) { return one < 0; }); size != sizes.end())
    return fmt::format("expected a size of 0 or more, got {}", *size);
  const bool empty = std::ranges::find(sizes, 0) != sizes.end();
  if (tensor.data == nullptr && !empty) return "expected data, got NULL";
  if (tensor.dtype.lanes != 1 || tensor.dtype.bits % 8 != 0)
    return fmt::format("expected whole bytes and one lane, got {} bits and {} lanes", tensor.dtype.bits, tensor.dtype.lanes);
  return empty ? std::nullopt : WhyNotRowMajor(tensor);
}

}  // namespace

FingerprintRecord::FingerprintRecord(const LoopParts& parts) : parts_(parts) {
  if (!parts.spec.experiment.fingerprints) return;
  // A second run in the same folder by hand appends to the file.
  const std::filesystem::path file = AttemptFolder(parts.spec.attempt_dir).fingerprints();
  const std::optional<FingerprintFile> before = ReadFingerprints(file);
  file_.emplace(file, before ? before->whole_bytes : 0);
}

void FingerprintRecord::AddRollout(RolloutCollector& collector, const RolloutPart& part, const bp_delivery& delivery) {
  if (!file_) return;
  if (part.index == 0) StartRollout(collector, delivery);
  for (Stream& stream : streams_) {
    if (ChannelBuffer* const buffer = stream.buffer) {
      const uint64_t bytes = buffer->lead() * buffer->row_bytes();
      for (uint64_t t = 0; t < part.steps; ++t) stream.hash.Add(buffer->row(t, 0), bytes);
    } else {
      AddDense(*delivery.tensors[stream.at], &stream.hash);
    }
    if (part.last()) Add(stream.phase, stream.name, stream.hash.Value());
  }
}

void FingerprintRecord::StartRollout(RolloutCollector& collector, const bp_delivery& delivery) {
  columns_.clear(), hashes_.clear(), streams_.clear();
  for (const bp_channel* channel : parts_.env.channels()) StartChannel(*collector.Buffer(channel->name));
  if (bp::FindChannel(parts_.env.spec(), BP_ROLE_TRUNCATED) == nullptr)
    StartChannel(*collector.Buffer("truncated"));  // written by the host
  for (uint64_t i = 0; i < delivery.n_tensors; ++i) {
    const std::string_view name = delivery.names[i];
    if (name.starts_with("final_") && name != "final_index" && !parts_.env.on_device())
      streams_.emplace_back(kObserved, delivery.names[i], nullptr, i);
  }
}

void FingerprintRecord::StartChannel(ChannelBuffer& buffer) {
  const char* phase = PhaseOf(buffer.role());
  if (phase == nullptr || (buffer.on_device() && phase != kRewarded)) return;  // the host has a mirror of kRewarded
  streams_.emplace_back(phase, buffer.name().c_str(), &buffer, 0);
}

void FingerprintRecord::AddScores(const bp_delivery& delivery) {
  columns_.clear(), hashes_.clear();
  if (!file_) return;
  for (uint64_t i = 0; i < delivery.n_tensors; ++i) {
    const std::string_view name = delivery.names[i];
    Add(name.starts_with("obs_") ? kObserved : kRewarded, delivery.names[i], HashOfTensor(*delivery.tensors[i]));
  }
}

void FingerprintRecord::AddGroup(const ItemGroup& group) {
  columns_.clear(), hashes_.clear();
  if (!file_) return;
  const bp_channel* of = nullptr;
  std::optional<Hash64> hash;
  const auto end = [&] {
    if (of) Add(kObserved, of->name, hash->Value());
  };
  group.ForEachItem([&](const bp_channel& channel, const std::byte* data, uint64_t bytes) {
    if (&channel != of) end(), hash.emplace(), of = &channel;
    hash->Add(data, bytes);
  });
  end();
}

void FingerprintRecord::Write(uint64_t iteration, bool saves_anyway) {
  if (!file_) return;
  AddWeights(saves_anyway);
  std::string entries;
  if (columns_ != written_columns_) entries = TableEntry(written_columns_ = columns_);
  file_->Append(entries + RecordEntry(iteration, hashes_));
}

void FingerprintRecord::Sync() {
  if (file_) file_->Sync();
}

void FingerprintRecord::AddWeights(bool saves_anyway) {
  LearnerInstance& learner = parts_.learner;
  const auto* tensors = learner.Extension<bp_learner_tensors_1>(BP_LEARNER_TENSORS_1);
  if (tensors == nullptr) {
    const bp_learner_state_1* state = saves_anyway ? StateOf(learner) : nullptr;
    if (state == nullptr) return;
    const std::vector<std::byte> saved = SaveLearner(*state, learner);
    return Add(kLearned, "state", Hash64Of(saved.data(), saved.size()));
  }
  std::string wrong;
  learner.Call("tensors", [&](bp_learner* handle) {  // errors while reading the learner's memory are the learner's
    bp_named_tensors told{sizeof told, 0, 0, nullptr, nullptr};
    const bp_status status = tensors->get(handle, &told);
    if (status != BP_OK) return status;
    if (told.n > 0 && (told.names == nullptr || told.tensors == nullptr))
      wrong = fmt::format("expected {} names and tensors, got NULL", told.n);
    for (uint64_t i = 0; wrong.empty() && i < told.n; ++i) {
      if (told.names[i] == nullptr)
        wrong = fmt::format("expected a name of tensor {}, got NULL", i);
      else if (const auto why = WhyNotRead(told.tensors[i]))
        wrong = fmt::format("tensor '{}': {}", told.names[i], *why);
      else
        Add(kLearned, told.names[i], HashOfTensor(*told.tensors[i]));
    }
    return status;
  });
  if (!wrong.empty()) throw TrialFailure(BP_E_INTERNAL, learner.id(), "extension " BP_LEARNER_TENSORS_1 ": " + wrong);
}

void FingerprintRecord::Add(const char* phase, const char* tensor, uint64_t hash) {
  columns_.push_back({phase, tensor});
  hashes_.push_back(hash);
}

}  // namespace backplane
