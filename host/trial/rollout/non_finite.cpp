#include "rollout/non_finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace backplane {
namespace {

using Observed = RolloutBuffers::Observed;

std::vector<Observed> ObservedChannels(const RolloutBuffers& buffers) {
  std::vector<Observed> of_env;
  if (buffers.memory().on_device()) return of_env;
  for (const Observed& channel : buffers.observed)
    if (channel.buffer->role() != BP_ROLE_CARRY) of_env.push_back(channel);  // the learner writes its memory itself
  return of_env;
}

template <class T>
std::optional<uint64_t> FirstIn(const std::byte* data, uint64_t n) {
  const std::span values(reinterpret_cast<const T*>(data), n);
  const auto it = std::find_if(values.begin(), values.end(), [](T value) { return !std::isfinite(value); });
  if (it == values.end()) return std::nullopt;
  return static_cast<uint64_t>(it - values.begin());
}

// The index of the first non-finite number within a row of the env and all its agents.
std::optional<uint64_t> FirstInRow(const ChannelBuffer& buffer, uint64_t lead, const std::byte* row) {
  const bp_dtype dtype = buffer.dtype();
  const uint64_t n = lead * buffer.row_elements();
  if (dtype.code != BP_DTYPE_FLOAT) return std::nullopt;
  if (dtype.bits == 32) return FirstIn<float>(row, n);
  if (dtype.bits == 64) return FirstIn<double>(row, n);
  return std::nullopt;
}

std::optional<uint64_t> FirstInRow(const Observed& channel, const std::byte* row) {
  return FirstInRow(*channel.buffer, channel.lead, row);
}

std::string NotFinite(const ChannelBuffer& buffer, uint64_t lead, uint64_t index, const std::string& whose) {
  const uint64_t elements = buffer.row_elements();
  const char* what = buffer.role() == BP_ROLE_OBS ? "observation" : "state";
  const std::string agent = lead > 1 ? fmt::format(", agent {},", index / elements) : "";
  return fmt::format("{} {}[{}] of {}{} is not finite", what, buffer.name(), index % elements, whose, agent);
}

// `first`: steps of the rollout before the ones in the buffers.
NonFinite Found(const Observed& channel, uint64_t first, uint64_t step, uint64_t row, uint64_t index) {
  const std::string when = first + step > 0 ? fmt::format("at step {}", first + step) : "at the start";
  return {
      step, row,
      fmt::format("{} {} of the rollout", NotFinite(*channel.buffer, channel.lead, index, fmt::format("row {}", row)), when)};
}

// Searches the last observations of a chunk's episodes, which the next episodes have overwritten in the buffers. `kept`: the
// chunk's copies for this channel.
std::optional<NonFinite> FirstAmongEnds(const Observed& channel, const AlignedBytes& kept, const Chunk& chunk, uint64_t first) {
  const uint64_t bytes = channel.lead * channel.buffer->row_bytes();
  for (uint64_t i = 0; i < chunk.episodes.size(); ++i) {
    const Episode& end = chunk.episodes[i];
    const std::byte* last = channel.finals ? channel.finals->row(end.t, end.row * channel.lead) : kept.get() + i * bytes;
    if (const auto index = FirstInRow(channel, last)) return Found(channel, first, end.t + 1, end.row, *index);
  }
  return std::nullopt;
}

}  // namespace

std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, uint64_t begin, uint64_t end, uint64_t last_step) {
  const std::vector<Observed> channels = ObservedChannels(buffers);
  for (uint64_t step = 0; step <= last_step; ++step)
    for (uint64_t row = begin; row < end; ++row)
      for (const Observed& channel : channels)
        if (const auto index = FirstInRow(channel, channel.buffer->row(step, row * channel.lead)))
          return Found(channel, buffers.first(), step, row, *index);
  return std::nullopt;
}

std::optional<std::string> NonFiniteEntry(ChannelBuffer& buffer, uint64_t t, uint64_t row, uint64_t lead,
                                          const std::string& whose) {
  const std::optional<uint64_t> index = FirstInRow(buffer, lead, buffer.row(t, row * lead));
  if (!index) return std::nullopt;
  return NotFinite(buffer, lead, *index, whose);
}

std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, const std::vector<Chunk>& chunks) {
  if (buffers.horizon() == 0) return std::nullopt;
  std::optional<NonFinite> first = FirstNonFinite(buffers, chunks.front().begin, chunks.back().end, buffers.horizon());
  const std::vector<Observed> channels = ObservedChannels(buffers);
  for (const Chunk& chunk : chunks)
    for (size_t i = 0; i < channels.size(); ++i) {
      std::optional<NonFinite> end = FirstAmongEnds(channels[i], chunk.finals[i], chunk, buffers.first());
      if (end && (!first || std::tie(end->step, end->row) < std::tie(first->step, first->row))) first = std::move(end);
    }
  return first;
}

}  // namespace backplane
