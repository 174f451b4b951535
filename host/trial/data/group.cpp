#include "data/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "rollout/guard.hpp"

namespace backplane {
namespace {

bool BelongsToItem(uint16_t role) {
  return role == BP_ROLE_OBS || role == BP_ROLE_LENGTH || role == BP_ROLE_LABEL || role == BP_ROLE_LOSS_MASK ||
         role == BP_ROLE_WEIGHT;
}

constexpr std::string_view kLengthSuffix = "_length";

uint64_t ElementsOf(const bp_channel& channel) {
  uint64_t n = 1;
  for (int d = 0; d < channel.ndim; ++d) n *= static_cast<uint64_t>(channel.shape[d]);
  return n;
}

// A LENGTH or WEIGHT channel must have one number per item, because the host reads it too.
void CheckNumber(const bp_channel& channel, const std::string& env_id) {
  const bool length = channel.role == BP_ROLE_LENGTH;
  if (!length && channel.role != BP_ROLE_WEIGHT) return;
  const int code = length ? BP_DTYPE_INT : BP_DTYPE_FLOAT;
  if (channel.dtype.code == code && channel.dtype.bits == 32 && ElementsOf(channel) == 1 && channel.scope == BP_SCOPE_ROW)
    return;
  throw TrialFailure(
      BP_E_INTERNAL, env_id,
      fmt::format(
          "channel '{}' of role {}: expected one {} in row scope, got type code {} of {} bits with {} elements, scope {}",
          channel.name, length ? "LENGTH" : "WEIGHT", length ? "int32" : "float32", channel.dtype.code, channel.dtype.bits,
          ElementsOf(channel), channel.scope));
}

}  // namespace

const bp_env_source_1* SourceOf(const EnvInstance& env) { return env.Extension<bp_env_source_1>(BP_ENV_SOURCE_1); }

uint64_t ItemsOf(EnvInstance& env) {
  const bp_env_source_1* source = SourceOf(env);
  const uint64_t items = env.Call("length", [&](const bp_env* handle) { return source->length(handle); });
  if (items < 1 || items > kMaxItems)
    throw TrialFailure(BP_E_INTERNAL, env.id(),
                       fmt::format("length: expected a data set of 1 to {} items, got {}", kMaxItems, items));
  return items;
}

ItemGroup::ItemGroup(EnvInstance& env) : env_(env), source_(SourceOf(env)) {
  for (const bp_channel* channel : env.channels()) {
    if (!BelongsToItem(channel->role)) continue;
    CheckNumber(*channel, env.id());
    Part& part = parts_.emplace_back();
    part.channel = channel;
    part.row_bytes = channel->dtype.bits / 8 * ElementsOf(*channel);
    names_.push_back(channel->name);
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::string name = parts_[i].channel->name;
    if (parts_[i].channel->role != BP_ROLE_LENGTH) continue;
    const auto of = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& p) { return p.channel->name + std::string(kLengthSuffix) == name; });
    if (of == parts_.end() || of->channel->ndim == 0)
      throw TrialFailure(BP_E_INTERNAL, env.id(),
                         "channel '" + name + "' of role LENGTH: expected the name of an item's array, \"<channel>" +
                             std::string(kLengthSuffix) + "\"");
    of->length = static_cast<int>(i);
  }
}

void ItemGroup::Read(uint64_t seed, uint64_t first, uint64_t n, bool sort) {
  ReadInto(seed, first, n);
  for (const Part& part : parts_) {
    if (part.length < 0) continue;
    for (uint64_t i = 0; i < n; ++i) {
      const int32_t length = LengthOf(parts_[part.length], i);
      if (length < 0 || length > Capacity(part))
        throw TrialFailure(BP_E_INTERNAL, env_.id(),
                           std::string("item ") + std::to_string(first + i) + " of an epoch: '" +
                               parts_[part.length].channel->name + "': expected 0 .. " + std::to_string(Capacity(part)) +
                               ", got " + std::to_string(length));
    }
  }
  if (sort) SortRows();
  SumWeights();
}

void ItemGroup::ReadLongest(uint64_t n) {
  const uint64_t length = ItemsOf(env_);
  ReadInto(0, 0, std::min(n, length));
  Allocate(n);
  items_ = n;
  for (Part& part : parts_)
    for (uint64_t i = length; i < n; ++i)
      std::memcpy(part.bytes.get() + i * part.row_bytes, part.bytes.get() + i % length * part.row_bytes, part.row_bytes);
  for (const Part& part : parts_) {
    if (part.length < 0) continue;
    auto* lengths = reinterpret_cast<int32_t*>(parts_[part.length].bytes.get());
    std::fill(lengths, lengths + n, static_cast<int32_t>(Capacity(part)));
  }
  SumWeights();
}

void ItemGroup::ReadInto(uint64_t seed, uint64_t first, uint64_t n) {
  Allocate(n);
  items_ = n;
  std::vector<bp_tensor*> tensors;
  size_t next = 0;
  for (const bp_channel* channel : env_.channels()) {
    if (next == parts_.size() || parts_[next].channel != channel) {
      tensors.push_back(nullptr);
      continue;
    }
    Part& part = parts_[next++];
    std::vector<int64_t> dims{static_cast<int64_t>(n)};
    dims.insert(dims.end(), channel->shape, channel->shape + channel->ndim);
    part.all.Set(part.bytes.get(), channel->dtype, dims, static_cast<int64_t>(part.row_bytes * 8 / channel->dtype.bits));
    tensors.push_back(&part.all.view);
  }
  const bp_frame frame{sizeof(bp_frame), 0, tensors.data(), nullptr};
  SetGuards();
  env_.Call("read", [&](bp_env* env) { return source_->read(env, seed, first, n, &frame); });
  CheckGuards();
}

// Guards follow the requested items directly, even if the buffer is larger.
void ItemGroup::SetGuards() {
  for (const Part& part : parts_) {
    FillGuard(part.bytes.get() - GuardedRows::kGuard, GuardedRows::kGuard);
    FillGuard(part.bytes.get() + items_ * part.row_bytes, GuardedRows::kGuard);
  }
}

void ItemGroup::CheckGuards() const {
  for (const Part& part : parts_)
    for (const bool before : {true, false}) {
      const std::byte* guard = part.bytes.get() + (before ? -int64_t{GuardedRows::kGuard} : int64_t(items_ * part.row_bytes));
      if (const auto distance = GuardChange(guard, GuardedRows::kGuard, before))
        throw TrialFailure(BP_E_INTERNAL, env_.id(), "read: " + GuardSentence(part.channel->name, *distance, before));
    }
}

// Keeps the existing rows.
void ItemGroup::Allocate(uint64_t n) {
  if (n <= capacity_) return;
  for (Part& part : parts_) {
    if (n > kMaxChannelBytes / part.row_bytes)
      throw TrialFailure(
          BP_E_OOM_HOST, env_.id(),
          fmt::format("channel '{}': expected at most {} bytes for the items of a group, got {} items of {} bytes",
                      part.channel->name, kMaxChannelBytes, n, part.row_bytes));
    GuardedRows larger(n * part.row_bytes);
    if (items_ > 0) std::memcpy(larger.get(), part.bytes.get(), items_ * part.row_bytes);
    part.bytes = std::move(larger);
    part.sorted = GuardedRows(n * part.row_bytes);
  }
  capacity_ = n;
}

int32_t ItemGroup::LengthOf(const Part& length, uint64_t item) const {
  return reinterpret_cast<const int32_t*>(length.bytes.get())[item];
}

void ItemGroup::SortRows() {
  std::vector<uint64_t> order(items_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    for (const Part& part : parts_) {
      if (part.channel->role != BP_ROLE_LENGTH) continue;
      if (const int32_t la = LengthOf(part, a), lb = LengthOf(part, b); la != lb) return la > lb;
    }
    return false;
  });
  for (Part& part : parts_) {
    for (uint64_t i = 0; i < items_; ++i)
      std::memcpy(part.sorted.get() + i * part.row_bytes, part.bytes.get() + order[i] * part.row_bytes, part.row_bytes);
    std::swap(part.sorted, part.bytes);
  }
}

void ItemGroup::SumWeights() {
  weight_ = static_cast<double>(items_);
  for (const Part& part : parts_) {
    if (part.channel->role != BP_ROLE_WEIGHT) continue;
    const auto* weights = reinterpret_cast<const float*>(part.bytes.get());
    weight_ = std::accumulate(weights, weights + items_, 0.0);
  }
}

void ItemGroup::ForEachItem(const std::function<void(const bp_channel&, const std::byte*, uint64_t)>& see) const {
  for (const Part& part : parts_)
    for (uint64_t i = 0; i < items_; ++i) {
      uint64_t bytes = part.row_bytes;
      if (part.length >= 0)
        bytes = bytes / static_cast<uint64_t>(Capacity(part)) * static_cast<uint64_t>(LengthOf(parts_[part.length], i));
      see(*part.channel, part.bytes.get() + i * part.row_bytes, bytes);
    }
}

const std::vector<bp_delivery>& ItemGroup::Cut(uint64_t micro_batch) {
  views_.clear();
  view_lists_.clear();
  deliveries_.clear();
  for (uint64_t begin = 0; begin < items_; begin += micro_batch) {
    std::vector<bp_tensor*>& list = view_lists_.emplace_back();
    for (Part& part : parts_) list.push_back(&MakeView(part, begin, std::min(begin + micro_batch, items_)).view);
    bp_delivery& delivery = deliveries_.emplace_back();
    delivery.struct_size = sizeof delivery;
    delivery.kind = BP_REQ_DATA;
    delivery.index = static_cast<uint32_t>(deliveries_.size() - 1);
    delivery.n_tensors = list.size();
    delivery.names = names_.data();
    delivery.tensors = list.data();
    delivery.group_weight = weight_;
  }
  for (bp_delivery& delivery : deliveries_) delivery.count = static_cast<uint32_t>(deliveries_.size());
  deliveries_.back().flags |= BP_DELIVERY_LAST_IN_GROUP;
  return deliveries_;
}

// Rows [begin, end) of a part, cut to the longest of them.
Tensor& ItemGroup::MakeView(Part& part, uint64_t begin, uint64_t end) {
  const bp_channel& channel = *part.channel;
  std::vector<int64_t> dims{static_cast<int64_t>(end - begin)};
  dims.insert(dims.end(), channel.shape, channel.shape + channel.ndim);
  if (part.length >= 0) {
    dims[1] = 0;
    for (uint64_t i = begin; i < end; ++i) dims[1] = std::max<int64_t>(dims[1], LengthOf(parts_[part.length], i));
  }
  Tensor& view = views_.emplace_back();
  view.Set(part.bytes.get() + begin * part.row_bytes, channel.dtype, dims,
           static_cast<int64_t>(part.row_bytes * 8 / channel.dtype.bits));
  return view;
}

}  // namespace backplane
