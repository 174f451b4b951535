#include "validate/driven_env.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backplane/actions.hpp"
#include "backplane/ext/source.h"
#include "backplane/rng.h"
#include "rollout/channel_table.hpp"
#include "validate/doing.hpp"
#include "validate/verdict.hpp"

namespace backplane {
namespace {

constexpr uint64_t kSeedsAhead = 64;  // for envs that reset themselves

// Signalling NaNs with two payloads for floating-point numbers, and bytes that are no valid flag for others.
void FillPoison(std::byte* at, uint64_t bytes, bp_dtype dtype, Poison poison) {
  const bool first = poison == Poison::kFirst;
  if (dtype.code == BP_DTYPE_FLOAT && dtype.bits == 32) {
    const uint32_t nan = first ? 0x7fa5a5a5u : 0xffb5c3d1u;
    for (uint64_t i = 0; i + sizeof nan <= bytes; i += sizeof nan) std::memcpy(at + i, &nan, sizeof nan);
  } else if (dtype.code == BP_DTYPE_FLOAT && dtype.bits == 64) {
    const uint64_t nan = first ? 0x7ff4a5a5a5a5a5a5u : 0xfff5c3d1b2a19687u;
    for (uint64_t i = 0; i + sizeof nan <= bytes; i += sizeof nan) std::memcpy(at + i, &nan, sizeof nan);
  } else {
    std::memset(at, first ? 0xa5 : 0x5b, bytes);
  }
}

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void StoreNumber(std::byte* at, bp_dtype dtype, double value) {
  const auto put = [at](auto number) { std::memcpy(at, &number, sizeof number); };
  if (dtype.code == BP_DTYPE_FLOAT) return dtype.bits == 64 ? put(value) : put(static_cast<float>(value));
  const auto whole = static_cast<int64_t>(value);
  switch (dtype.bits) {
    case 8: return put(static_cast<int8_t>(whole));
    case 16: return put(static_cast<int16_t>(whole));
    case 32: return put(static_cast<int32_t>(whole));
    default: put(whole);
  }
}

std::string NumberText(const std::byte* at, bp_dtype dtype) {
  if (dtype.code == BP_DTYPE_FLOAT && dtype.bits == 32) return fmt::format("{}", Load<float>(at));
  if (dtype.code == BP_DTYPE_FLOAT && dtype.bits == 64) return fmt::format("{}", Load<double>(at));
  uint64_t bits = 0;
  std::memcpy(&bits, at, dtype.bits / 8);
  if (dtype.code == BP_DTYPE_UINT || dtype.bits == 64) return fmt::format("{}", static_cast<int64_t>(bits));
  const int unused = 64 - dtype.bits;
  return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
}

}  // namespace

std::string RangeText(RowsRange range) { return fmt::format("rows [{}, {})", range.begin, range.end); }

DrivenEnv::DrivenEnv(Subject& subject, const EnvLayout& layout)
    : subject_(subject),
      layout_(layout),
      env_(subject.MakeEnv(layout.rows, layout.bare)),
      episodes_(layout.rows),
      steps_(layout.rows),
      seeds_(layout.rows),
      mask_(layout.rows),
      records_(layout.rows) {
  if (env_->on_device()) SkipCase("keeps its channels on a device, which the validator cannot read");
  for (const bp_channel* c : channels())
    if (c->role == BP_ROLE_ACTION && c->dtype.code == BP_DTYPE_FLOAT && c->dtype.bits != 32 && c->dtype.bits != 64)
      SkipCase(fmt::format("has actions of {} bits, '{}', which the validator cannot write", c->dtype.bits, c->name));
  Allocate();
  NowDoing("bind");
  env_->Bind(frames_);
  CheckGuards("bind");
}

void DrivenEnv::Allocate() {
  const uint64_t slots = layout_.slots, steps = slots == 1 ? 1 : slots - 1;
  lists_.resize(slots);
  seen_.resize(slots);
  for (size_t c = 0; c < channels().size(); ++c) {
    const bp_channel& channel = *channels()[c];
    const uint64_t agents = env_->Lead(channel) / rows();
    const uint64_t elements = Elements(channel) * agents, bytes = elements * channel.dtype.bits / 8;
    // A row's agents are contiguous.
    const uint64_t stride = layout_.wide_strides && agents == 1 ? (bytes + 64) / 64 * 64 + 64 : bytes;
    shapes_.push_back({rows() * agents, bytes, stride, elements});
    const uint64_t entries = slots == 1 ? 1 : IsStateRole(channel.role) ? steps + 1 : steps;
    auto& blocks = blocks_.emplace_back();
    for (uint64_t e = 0; e < entries; ++e) {
      blocks.push_back(
          std::make_unique<GuardedBlock>(fmt::format("channel '{}'", channel.name), (rows() - 1) * stride + bytes));
      std::memset(blocks.back()->data(), 0, blocks.back()->bytes());
    }
    if (!Writes(c)) continue;
    step_bytes_ += bytes;
    if (IsStateRole(channel.role)) state_bytes_ += bytes;
  }
  for (uint64_t s = 0; s < slots; ++s) {
    const bool last = slots > 1 && s + 1 == slots;
    for (size_t c = 0; c < channels().size(); ++c) {
      const bool state = IsStateRole(channels()[c]->role);
      if (last && !state) {
        lists_[s].push_back(nullptr), seen_[s].push_back(nullptr);
        continue;
      }
      AddTensor(c, s, slots == 1 || last ? 0 : state ? s + 1 : s);
    }
    frames_.push_back({sizeof(bp_frame), static_cast<uint32_t>(s), lists_[s].data(), nullptr});
  }
}

void DrivenEnv::AddTensor(size_t channel, uint64_t slot, uint64_t entry) {
  const bp_channel& c = *channels()[channel];
  BoundTensor& bound = tensors_.emplace_back();
  bound.shape.push_back(static_cast<int64_t>(shapes_[channel].lead));
  bound.shape.insert(bound.shape.end(), c.shape, c.shape + c.ndim);
  bound.strides.assign(bound.shape.size(), 1);
  for (size_t i = bound.shape.size() - 1; i > 0; --i) bound.strides[i - 1] = bound.strides[i] * bound.shape[i];
  const uint64_t agents = shapes_[channel].lead / rows();
  bound.strides[0] = static_cast<int64_t>(shapes_[channel].row_stride / agents / (c.dtype.bits / 8u));
  GuardedBlock* block = blocks_[channel][entry].get();
  bound.tensor = {block->data(),
                  {BP_DEVICE_CPU, 0},
                  static_cast<int32_t>(bound.shape.size()),
                  c.dtype,
                  bound.shape.data(),
                  bound.strides.data(),
                  0};
  lists_[slot].push_back(&bound.tensor);
  seen_[slot].push_back(block);
}

void DrivenEnv::BindAsNewer() {
  for (const bp_frame& frame : frames_) {
    long_frames_.push_back({frame, {0xdeadbeefu, 0xdeadbeefu, 0xdeadbeefu}});
    long_frames_.back().now.struct_size = sizeof(LongFrame);
  }
  NowDoing("bind by a newer host");
  const auto* api = subject_.module().api<bp_env_api>(subject_.info().id);
  env_->Call("bind", [&](bp_env* env) { return api->bind(env, &long_frames_.front().now, long_frames_.size()); });
}

bool DrivenEnv::Writes(size_t channel) const {
  const uint16_t role = channels()[channel]->role;
  if (role == BP_ROLE_ACTION || role == BP_ROLE_FINAL_OBS || role == BP_ROLE_FINAL_STATE) return false;
  if (role == BP_ROLE_TRUNCATED) return owns_time_limit();
  // Properties of a data set's item that an episode may lack.
  return role != BP_ROLE_LABEL && role != BP_ROLE_LOSS_MASK && role != BP_ROLE_WEIGHT;
}

std::optional<size_t> DrivenEnv::Index(uint16_t role) const {
  const bp_channel* const found = bp::FindChannel(env_->spec(), role);
  if (!found) return std::nullopt;
  return static_cast<size_t>(found - env_->spec().channels);
}

GuardedBlock* DrivenEnv::Block(uint64_t slot, size_t channel) const { return seen_[slot][channel]; }

std::byte* DrivenEnv::Row(uint64_t slot, size_t channel, uint64_t row) const {
  return seen_[slot][channel]->data() + row * shapes_[channel].row_stride;
}

uint32_t DrivenEnv::SlotOf(uint64_t t) const { return layout_.slots == 1 ? 0 : static_cast<uint32_t>(t % (layout_.slots - 1)); }

uint64_t DrivenEnv::SeedOf(uint64_t row) const {
  return bp_seed(subject_.seed() + 1, BP_PURPOSE_ENV_EPISODE, static_cast<uint32_t>(layout_.first_key + row), episodes_[row]);
}

void DrivenEnv::CheckGuards(const std::string& call) const {
  for (const auto& blocks : blocks_)
    for (const auto& block : blocks) {
      const std::optional<std::string> found = block->Break();
      if (found) FailCase(call, "no write outside the memory of " + block->name(), *found);
    }
}

void DrivenEnv::Reset(RowsRange range, const uint8_t* mask) {
  const uint32_t slot = layout_.slots == 1 ? 0 : static_cast<uint32_t>(layout_.slots - 1);
  for (uint64_t r = range.begin; r < range.end; ++r)
    if (!mask || mask[r]) seeds_[r] = SeedOf(r), ++episodes_[r], steps_[r] = 0;
  if (env_->resets_itself()) NextSeeds();
  NowDoing(fmt::format("reset of {} in slot {}", RangeText(range), slot));
  if (const bp_status status = env_->Reset(slot, range.begin, range.end, mask, seeds_.data()); status != BP_OK)
    env_->Fail(status, "reset");
  CheckGuards("reset");
}

void DrivenEnv::NextSeeds() {
  std::vector<uint64_t> seeds(rows() * kSeedsAhead);
  for (uint64_t r = 0; r < rows(); ++r)
    for (uint64_t k = 0; k < kSeedsAhead; ++k)
      seeds[r * kSeedsAhead + k] =
          bp_seed(subject_.seed() + 1, BP_PURPOSE_ENV_EPISODE, static_cast<uint32_t>(layout_.first_key + r), episodes_[r] + k);
  NowDoing("next_seeds");
  env_->NextSeeds(kSeedsAhead, seeds);
}

void DrivenEnv::Step(uint64_t t, RowsRange range) {
  NowDoing(fmt::format("step of {} in slot {}", RangeText(range), SlotOf(t)));
  if (const bp_status status = env_->Step(SlotOf(t), range.begin, range.end); status != BP_OK) env_->Fail(status, "step");
}

const std::byte* DrivenEnv::MaskOf(uint64_t t, uint64_t row, const bp_channel& action) const {
  const bp_channel* const of_agents = bp::MaskPlaceOf(env_->spec(), action).mask;
  if (!of_agents || action.space != BP_SPACE_DISCRETE || of_agents->scope != action.scope ||
      Elements(*of_agents) != static_cast<uint64_t>(action.nvec[0]) || Elements(action) != 1)
    return nullptr;
  const uint64_t slot = layout_.slots == 1 ? 0 : SlotOf(t) == 0 ? layout_.slots - 1 : SlotOf(t) - 1u;
  return Row(slot, static_cast<size_t>(of_agents - env_->spec().channels), row);
}

// Drawn uniformly, or from a standard normal without both bounds. Skips masked choices.
void DrivenEnv::WriteAction(size_t channel, uint64_t t, uint64_t row) {
  const bp_channel& c = *channels()[channel];
  const uint64_t each = Elements(c), bytes = c.dtype.bits / 8u;
  std::byte* const out = Row(SlotOf(t), channel, row);
  const std::byte* const mask = MaskOf(t, row, c);
  bp_rng rng{bp_seed(subject_.seed() + layout_.action_key, BP_PURPOSE_ACT, static_cast<uint32_t>(layout_.first_key + row), t),
             0};
  for (uint64_t i = 0; i < shapes_[channel].elements; ++i) {
    const uint64_t at = i % each;
    double value = 0;
    if (c.space == BP_SPACE_BOX || c.space == BP_SPACE_BYTES) {
      const double low = c.n_bounds ? c.low[c.n_bounds > 1 ? at : 0] : -INFINITY;
      const double high = c.n_bounds ? c.high[c.n_bounds > 1 ? at : 0] : INFINITY;
      value = std::isfinite(low) && std::isfinite(high) ? bp_rng_range(&rng, low, high)
                                                        : std::clamp(bp_rng_normal(&rng), low, high);
    } else if (c.space == BP_SPACE_MULTI_BINARY) {
      value = static_cast<double>(bp_rng_below(&rng, 2));
    } else {
      const int64_t choices = c.nvec[c.space == BP_SPACE_MULTI_DISCRETE ? at : 0];
      auto choice = static_cast<int64_t>(bp_rng_below(&rng, static_cast<uint64_t>(choices)));
      for (int64_t tries = 0;
           mask && tries < choices && mask[i * static_cast<uint64_t>(choices) + static_cast<uint64_t>(choice)] == std::byte{0};
           ++tries)
        choice = (choice + 1) % choices;
      value = static_cast<double>(choice);
    }
    StoreNumber(out + i * bytes, c.dtype, value);
  }
}

void DrivenEnv::WriteActions(uint64_t t, RowsRange range) {
  for (size_t c = 0; c < channels().size(); ++c)
    if (channels()[c]->role == BP_ROLE_ACTION)
      for (uint64_t r = range.begin; r < range.end; ++r) WriteAction(c, t, r);
}

void DrivenEnv::FillOutputs(uint64_t t, Poison poison) {
  for (size_t c = 0; c < channels().size(); ++c)
    if (channels()[c]->role != BP_ROLE_ACTION)
      FillPoison(Block(SlotOf(t), c)->data(), Block(SlotOf(t), c)->bytes(), channels()[c]->dtype, poison);
}

void DrivenEnv::FillStates(uint64_t slot, Poison poison) {
  for (size_t c = 0; c < channels().size(); ++c)
    if (IsStateRole(channels()[c]->role))
      FillPoison(Block(slot, c)->data(), Block(slot, c)->bytes(), channels()[c]->dtype, poison);
}

// Records all writes of a row's step, and the states again, because a reset may change them.
void DrivenEnv::Record(uint64_t t, uint64_t row, bool states_alone) {
  for (size_t c = 0; c < channels().size(); ++c) {
    if (!Writes(c) || (states_alone && !IsStateRole(channels()[c]->role))) continue;
    const std::byte* from = Row(SlotOf(t), c, row);
    records_[row].insert(records_[row].end(), from, from + RowBytes(c));
  }
}

bool DrivenEnv::Ended(uint64_t t, uint64_t row) const {
  const auto is_set = [&](uint16_t role) {
    const std::optional<size_t> channel = Index(role);
    return channel && *Row(SlotOf(t), *channel, row) != std::byte{0};
  };
  if (is_set(BP_ROLE_TERMINATED) || (owns_time_limit() && is_set(BP_ROLE_TRUNCATED))) return true;
  return !owns_time_limit() && max_steps() > 0 && steps_[row] >= static_cast<uint64_t>(max_steps());
}

void DrivenEnv::ResetEnded(uint64_t t, RowsRange range) {
  bool any = false;
  for (uint64_t r = range.begin; r < range.end; ++r) {
    mask_[r] = Ended(t, r);
    if (!mask_[r]) continue;
    any = true, steps_[r] = 0;
    seeds_[r] = SeedOf(r), ++episodes_[r];
  }
  if (!any || env_->resets_itself()) return;
  NowDoing(fmt::format("reset of {} in slot {}", RangeText(range), SlotOf(t)));
  const bp_status status = env_->Reset(SlotOf(t), range.begin, range.end, mask_.data(), seeds_.data());
  if (status != BP_OK) env_->Fail(status, "reset");
}

void DrivenEnv::AfterStep(uint64_t t, RowsRange range) {
  for (uint64_t r = range.begin; r < range.end; ++r) ++steps_[r];
  ResetEnded(t, range);
}

void DrivenEnv::CarryOver(uint64_t t) {
  if (layout_.slots == 1 || t == 0 || SlotOf(t) != 0) return;
  for (size_t c = 0; c < channels().size(); ++c)
    if (IsStateRole(channels()[c]->role))
      std::memcpy(blocks_[c].front()->data(), blocks_[c].back()->data(), blocks_[c].front()->bytes());
}

void DrivenEnv::Play(uint64_t from, uint64_t to, const std::vector<RowsRange>& ranges) {
  for (uint64_t t = from; t < to; ++t) {
    CarryOver(t);
    if (env_->resets_itself() && t % (kSeedsAhead / 2) == 0) NextSeeds();
    for (const RowsRange& range : ranges) {
      WriteActions(t, range);
      NowDoing(fmt::format("step of {} in slot {}", RangeText(range), SlotOf(t)));
      const bp_status status = env_->Step(SlotOf(t), range.begin, range.end);
      if (status != BP_OK) env_->Fail(status, "step");
      for (uint64_t r = range.begin; r < range.end; ++r) Record(t, r, false);
      AfterStep(t, range);
      for (uint64_t r = range.begin; r < range.end; ++r) Record(t, r, true);
    }
  }
}

void DrivenEnv::ForgetRecords() {
  for (auto& record : records_) record.clear();
}

void DrivenEnv::BeginAnew() {
  ForgetRecords();
  std::ranges::fill(episodes_, 0);
}

std::string DrivenEnv::ElementText(size_t channel, const std::byte* row, uint64_t element) const {
  const bp_dtype dtype = channels()[channel]->dtype;
  return NumberText(row + element * (dtype.bits / 8u), dtype);
}

std::string DrivenEnv::PlaceText(size_t channel, uint64_t row, uint64_t element) const {
  return fmt::format("channel '{}', element {} of row {}", channels()[channel]->name, element, row);
}

std::optional<std::string> DrivenEnv::Difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
  const uint64_t n = std::min(a.size(), b.size());
  const auto at =
      static_cast<uint64_t>(std::mismatch(a.begin(), a.begin() + static_cast<int64_t>(n), b.begin()).first - a.begin());
  if (at == n && a.size() == b.size()) return std::nullopt;
  if (at == n) return fmt::format("{} bytes and {}", a.size(), b.size());
  const uint64_t whole = step_bytes_ + state_bytes_, t = at / whole;
  uint64_t offset = at % whole;
  const bool after_reset = offset >= step_bytes_;
  uint64_t begin = t * whole + (after_reset ? step_bytes_ : 0);
  if (after_reset) offset -= step_bytes_;
  for (size_t c = 0; c < channels().size(); ++c) {
    if (!Writes(c) || (after_reset && !IsStateRole(channels()[c]->role))) continue;
    if (offset < RowBytes(c)) {
      const uint64_t element = offset / (channels()[c]->dtype.bits / 8u);
      return fmt::format("{} {}: channel '{}', element {}: {} and {}", after_reset ? "after the reset at step" : "step", t + 1,
                         channels()[c]->name, element, ElementText(c, a.data() + begin, element),
                         ElementText(c, b.data() + begin, element));
    }
    offset -= RowBytes(c), begin += RowBytes(c);
  }
  return std::nullopt;
}

}  // namespace backplane
