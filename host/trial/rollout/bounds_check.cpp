#include "rollout/bounds_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rollout/failure.hpp"

namespace backplane {

void BoundsCheck::Writes(const SlotChannel& channel) {
  if (channel.buffer->on_device()) return;
  written_.emplace_back(channel.buffer->place(channel.entry, begin_ * channel.per_row),
                        channel.buffer->place(channel.entry, end_ * channel.per_row));
}

void BoundsCheck::Keep(const SlotChannel& channel, const std::byte* from, const std::byte* to) {
  if (from < to) kept_.push_back({channel, from, std::vector<std::byte>(from, to)});
}

void BoundsCheck::KeepUnwritten(const SlotChannel& channel, const std::byte* from, const std::byte* to) {
  for (const auto& [first, last] : written_) {
    if (first <= from && from < last) from = std::min(to, last);
    if (from < first && first < to) to = first;
  }
  Keep(channel, from, to);
}

// Checks at most the width of a guard on either side.
void BoundsCheck::Beside(const SlotChannel& channel) {
  const ChannelBuffer& buffer = *channel.buffer;
  if (buffer.on_device()) return;
  const std::byte *first = buffer.place(channel.entry, begin_ * channel.per_row),
                  *last = buffer.place(channel.entry, end_ * channel.per_row);
  const uint64_t width = std::min(buffer.row_bytes() * channel.per_row, buffer.guard_bytes());
  const std::byte *lowest = buffer.place(0, 0) - buffer.guard_bytes(),
                  *highest = buffer.place(0, 0) + buffer.bytes() + buffer.guard_bytes();
  KeepUnwritten(channel, std::max(lowest, first - width), first);
  KeepUnwritten(channel, last, std::min(highest, last + width));
}

void BoundsCheck::Rows(const SlotChannel& channel, uint64_t begin, uint64_t end) {
  if (channel.buffer->on_device()) return;
  Keep(channel, channel.buffer->place(channel.entry, begin * channel.per_row),
       channel.buffer->place(channel.entry, end * channel.per_row));
}

void BoundsCheck::Compare() const {
  for (const Kept& kept : kept_) {
    const auto [changed, now] = std::mismatch(kept.bytes.begin(), kept.bytes.end(), kept.at);
    if (changed != kept.bytes.end()) Refuse(kept, static_cast<uint64_t>(changed - kept.bytes.begin()));
  }
}

BoundsCheck CheckBoundsOfCall(const std::string& plugin, const char* call, uint64_t begin, uint64_t end,
                              const CallChannels& channels) {
  BoundsCheck bounds(plugin, call, begin, end);
  for (const SlotChannel& channel : channels.writes) bounds.Writes(channel);
  for (const SlotChannel& channel : channels.writes) bounds.Beside(channel);
  for (const SlotChannel& channel : channels.reads) {
    bounds.Beside(channel);
    bounds.Rows(channel, begin, end);
  }
  return bounds;
}

BoundsCheck CheckBoundsOfReset(const std::string& plugin, uint64_t begin, uint64_t end, const uint8_t* mask,
                               const CallChannels& channels) {
  BoundsCheck bounds = CheckBoundsOfCall(plugin, "reset", begin, end, channels);
  for (uint64_t row = begin; mask != nullptr && row < end; ++row)
    if (mask[row] == 0)
      for (const SlotChannel& channel : channels.writes) bounds.Rows(channel, row, row + 1);
  return bounds;
}

void BoundsCheck::Refuse(const Kept& kept, uint64_t offset) const {
  const ChannelBuffer& buffer = *kept.channel.buffer;
  const auto row_bytes = static_cast<int64_t>(buffer.row_bytes() * kept.channel.per_row);
  const int64_t at = kept.at + offset - buffer.place(kept.channel.entry, 0);
  const int64_t rows = static_cast<int64_t>(buffer.lead() / kept.channel.per_row);
  const std::string where = at < 0                   ? fmt::format("{} bytes before row 0", -at)
                            : at / row_bytes >= rows ? fmt::format("{} bytes after row {}", at - rows * row_bytes, rows - 1)
                                                     : fmt::format("row {}", at / row_bytes);
  const bool own = at >= 0 && at / row_bytes >= static_cast<int64_t>(begin_) && at / row_bytes < static_cast<int64_t>(end_);
  throw TrialFailure(
      BP_E_INTERNAL, plugin_,
      own ? fmt::format("{} of rows {} to {}: expected channel '{}' unchanged there, got {} changed", call_, begin_, end_ - 1,
                        buffer.name(), where)
          : fmt::format("{} of rows {} to {}: expected nothing written outside these rows of channel '{}', got {} changed",
                        call_, begin_, end_ - 1, buffer.name(), where));
}

}  // namespace backplane
