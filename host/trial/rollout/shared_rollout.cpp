// The part of RolloutCollector that shares a rollout with other processes, chunk by chunk.
#include <algorithm>
#include <cstring>

#include "rollout/rollout_collector.hpp"
#include "rollout/row_snapshots.hpp"

namespace backplane {
namespace {

void Append(std::vector<std::byte>* out, const void* data, uint64_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  out->insert(out->end(), from, from + bytes);
}

uint64_t FinalBytes(const RolloutBuffers::Observed& seen) { return seen.finals ? 0 : seen.lead * seen.buffer->row_bytes(); }

}  // namespace

void RolloutCollector::BeginShared(const RolloutPart& part, PhaseClock& clock) {
  const PhaseSpan span(clock, Phase::kBatchBuild);
  Prepare(part.room);
  buffers_.Continue();
  fresh_ = !std::exchange(started_, true);
  if (fresh_) elsewhere_.clear();
  elsewhere_.resize(queue_.chunks().size());
  Begin(part);
}

void RolloutCollector::BeginGiven(const RolloutPart& part, const SharedMemory::Block& owners, PhaseClock& clock) {
  const SharedMemory::Block block = gate_.on() ? SharedMemory::Block() : owners;
  if (config_.shared && config_.shared->block() != block) {
    buffers_.Release();
    config_.shared->Use(block);
  }
  BeginShared(part, clock);
}

ChunkStart RolloutCollector::StartOf(uint64_t index) {
  const Chunk& chunk = queue_.chunks()[index];
  const std::vector<RowState>& state = recorder_.rows().state;
  ChunkStart start{index, {&state[chunk.begin], &state[chunk.begin] + (chunk.end - chunk.begin)}, {}, {}};
  if (fresh_) return start;
  start.env = elsewhere_[index] ? *elsewhere_[index] : SaveRows(env_, chunk.begin, chunk.end);
  start.states = buffers_.SaveFirstStates(chunk.begin, chunk.end);
  return start;
}

bool RolloutCollector::SetStart(const ChunkStart& start) {
  if (start.chunk >= queue_.chunks().size()) return false;
  const Chunk& chunk = queue_.chunks()[start.chunk];
  Rows& rows = recorder_.rows();
  if (start.rows.size() != chunk.end - chunk.begin) return false;
  std::copy(start.rows.begin(), start.rows.end(), &rows.state[chunk.begin]);
  elsewhere_[start.chunk].reset();
  if (!start.env.empty()) {
    LoadRows(env_, chunk.begin, chunk.end, start.env);
    return buffers_.RestoreFirstStates(chunk.begin, chunk.end, start.states);
  }
  for (uint64_t r = chunk.begin; r < chunk.end; ++r) rows.StartEpisode(r);
  ResetRows(chunk.begin, chunk.end);
  return true;
}

bool RolloutCollector::PlayShared(const std::vector<uint64_t>& chunks, std::vector<PhaseClock>& clocks) {
  for (const uint64_t i : chunks)
    if (fresh_ || elsewhere_[i]) SetStart(StartOf(i));
  return PlayGiven(chunks, clocks);
}

bool RolloutCollector::PlayGiven(const std::vector<uint64_t>& chunks, std::vector<PhaseClock>& clocks) {
  queue_.StartOnly(chunks);
  if (!RunAll(clocks)) return false;
  if (gate_.on()) CheckFirstIteration();
  return true;
}

void RolloutCollector::EndShared(PhaseClock& clock) {
  if (gate_.on()) CheckFirstIteration();
  policy_steps_ += buffers_.horizon();
  const PhaseSpan span(clock, Phase::kBatchBuild);
  delivery_.Merge(queue_.chunks(), buffers_, wants_moments_);
}

ChunkPlayed RolloutCollector::PlayedOf(uint64_t index) {
  Chunk& chunk = queue_.chunks()[index];
  const std::vector<RowState>& state = recorder_.rows().state;
  ChunkPlayed played;
  played.chunk = index;
  if (!buffers_.shared()) played.channels = buffers_.SaveSteps(chunk.begin, chunk.end);
  for (const Episode& e : chunk.episodes) played.episodes.push_back({e.t, e.row, e.episode_return, e.length});
  played.infos = chunk.infos;
  for (size_t i = 0; i < buffers_.observed.size(); ++i)
    Append(&played.finals, chunk.finals[i].get(), chunk.episodes.size() * FinalBytes(buffers_.observed[i]));
  for (const Moments& block : chunk.moments) {
    played.moments.push_back(block.count);
    played.moments.insert(played.moments.end(), block.mean.begin(), block.mean.end());
    played.moments.insert(played.moments.end(), block.m2.begin(), block.m2.end());
  }
  played.rows.assign(&state[chunk.begin], &state[chunk.begin] + (chunk.end - chunk.begin));
  played.env = SaveRows(env_, chunk.begin, chunk.end);
  played.own_steps = env_.TakeOwnSteps(chunk.begin, chunk.end);
  return played;
}

bool RolloutCollector::Fits(const ChunkPlayed& played) const {
  if (played.chunk >= queue_.chunks().size()) return false;
  const Chunk& chunk = queue_.chunks()[played.chunk];
  const uint64_t n = chunk.end - chunk.begin, ended = played.episodes.size();
  uint64_t finals = 0, moments = 0;
  for (const RolloutBuffers::Observed& seen : buffers_.observed) finals += ended * FinalBytes(seen);
  for (const Moments& block : chunk.moments) moments += 1 + 2 * block.mean.size();
  const auto inside = [&](const ChunkPlayed::Ended& e) {
    return e.t < buffers_.horizon() && e.row >= chunk.begin && e.row < chunk.end;
  };
  return played.rows.size() == n && ended <= n * buffers_.horizon() && played.finals.size() == finals &&
         played.infos.size() == ended * buffers_.infos.size() && played.moments.size() == moments &&
         std::all_of(played.episodes.begin(), played.episodes.end(), inside);
}

bool RolloutCollector::SetPlayed(const ChunkPlayed& played) {
  if (!Fits(played)) return false;
  Chunk& chunk = queue_.chunks()[played.chunk];
  const bool written = buffers_.shared() && played.channels.empty();
  if (!written && !buffers_.RestoreSteps(chunk.begin, chunk.end, played.channels)) return false;
  chunk.t = buffers_.horizon();
  chunk.infos = played.infos;
  chunk.episodes.clear();
  for (const ChunkPlayed::Ended& e : played.episodes)
    chunk.episodes.push_back(
        {e.t, e.row, e.episode_return, e.length, chunk.infos.data() + chunk.episodes.size() * buffers_.infos.size()});
  const std::byte* from = played.finals.data();
  for (size_t i = 0; i < buffers_.observed.size(); ++i) {
    const uint64_t bytes = played.episodes.size() * FinalBytes(buffers_.observed[i]);
    if (bytes > 0) std::memcpy(chunk.finals[i].get(), from, bytes);
    from += bytes;
  }
  const double* number = played.moments.data();
  for (Moments& block : chunk.moments) {
    block.count = *number++;
    for (std::vector<double>* part : {&block.mean, &block.m2}) {
      std::copy_n(number, part->size(), part->begin());
      number += part->size();
    }
  }
  std::copy(played.rows.begin(), played.rows.end(), &recorder_.rows().state[chunk.begin]);
  elsewhere_[played.chunk] = played.env;
  env_.AddOwnSteps(chunk.begin, played.own_steps);
  return true;
}

std::vector<std::byte> RolloutCollector::SaveEnvRows() {
  std::vector<std::byte> all;
  for (size_t i = 0; i < queue_.chunks().size(); ++i) {
    const Chunk& chunk = queue_.chunks()[i];
    const std::vector<std::byte> rows =
        i < elsewhere_.size() && elsewhere_[i] ? *elsewhere_[i] : SaveRows(env_, chunk.begin, chunk.end);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace backplane
