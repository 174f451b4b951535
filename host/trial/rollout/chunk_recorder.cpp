#include "rollout/chunk_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rollout/non_finite.hpp"

namespace backplane {

ChunkRecorder::ChunkRecorder(const EnvInstance& env, uint64_t seed, uint64_t moment_rows)
    : env_(env), tracker_(env), rows_(env.rows(), seed, BP_PURPOSE_ENV_EPISODE), moment_rows_(moment_rows) {}

void ChunkRecorder::MakeRoom(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const {
  for (Chunk& chunk : chunks) {
    const uint64_t most = (chunk.end - chunk.begin) * buffers.room();
    chunk.finals.clear();
    for (const RolloutBuffers::Observed& seen : buffers.observed)
      chunk.finals.push_back(seen.finals ? AlignedBytes()
                                         : AllocateAligned(most * seen.lead * seen.buffer->row_bytes(), false));
    chunk.episodes.reserve(most);
    chunk.infos.reserve(most * buffers.infos.size());
  }
}

void ChunkRecorder::StartRollout(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const {
  for (Chunk& chunk : chunks) {
    chunk.episodes.clear();
    chunk.infos.clear();
    if (moment_rows_ == 0) continue;
    chunk.moments.resize((chunk.end - chunk.begin + moment_rows_ - 1) / moment_rows_);
    for (Moments& block : chunk.moments) block.Reset(buffers.obs->row_elements());
  }
}

bool ChunkRecorder::Record(RolloutBuffers& buffers, Chunk& chunk) {
  const uint64_t t = chunk.t, n = chunk.end - chunk.begin;
  uint8_t* truncated = buffers.truncated->at<uint8_t>(t, chunk.begin);
  const EpisodeTracker::Step step{buffers.reward->at<float>(t, chunk.begin * buffers.reward_lead),
                                  buffers.terminated->at<uint8_t>(t, chunk.begin),
                                  truncated,
                                  truncated,
                                  buffers.reward_lead,
                                  OwnReturns(chunk.begin)};
  const EpisodeTracker::Seen seen = tracker_.Add(&rows_.state[chunk.begin], n, step);
  if (seen.not_finite) RefuseReward(buffers, chunk);
  if (seen.flags > 1) RefuseFlags(buffers, chunk);
  if (seen.flags != 0) EpisodeTracker::ForEachEnd(step, n, [&](uint64_t i) { EndEpisode(buffers, chunk, chunk.begin + i); });
  if (moment_rows_ > 0) AddMoments(buffers, chunk);
  return seen.flags != 0;
}

void ChunkRecorder::AddMoments(const RolloutBuffers& buffers, Chunk& chunk) const {
  const bool bytes = buffers.obs->dtype().bits == 8;
  uint64_t begin = chunk.begin;
  for (Moments& block : chunk.moments) {
    const uint64_t end = std::min(begin + moment_rows_, chunk.end);
    for (uint64_t r = begin * buffers.obs_lead; r < end * buffers.obs_lead; ++r)
      bytes ? block.Add(buffers.obs->at<uint8_t>(chunk.t, r)) : block.Add(buffers.obs->at<float>(chunk.t, r));
    begin = end;
  }
}

void ChunkRecorder::EndEpisode(RolloutBuffers& buffers, Chunk& chunk, uint64_t r) {
  const uint64_t t = chunk.t, place = chunk.episodes.size();
  const double* info = chunk.infos.data() + chunk.infos.size();
  for (ChannelBuffer* buffer : buffers.infos) chunk.infos.push_back(buffer->Number(t, r));
  chunk.episodes.push_back({t, r, rows_.state[r].episode_return, rows_.state[r].episode_length, info});
  for (size_t i = 0; i < buffers.observed.size(); ++i) {
    const RolloutBuffers::Observed& seen = buffers.observed[i];
    const uint64_t bytes = seen.lead * seen.buffer->row_bytes();
    if (seen.finals == nullptr)
      std::memcpy(chunk.finals[i].get() + place * bytes, seen.buffer->row(t + 1, r * seen.lead), bytes);
  }
  buffers.Forget(t + 1, r, r + 1);
  rows_.StartEpisode(r);
  rows_.mask[r] = 1;
}

// The OR of all flags is invalid. Valid flags never yield that, so this finds the invalid one.
void ChunkRecorder::RefuseFlags(RolloutBuffers& buffers, const Chunk& chunk) const {
  for (uint64_t r = chunk.begin; r < chunk.end; ++r)
    tracker_.CheckFlags(r, *buffers.terminated->at<uint8_t>(chunk.t, r), *buffers.truncated->at<uint8_t>(chunk.t, r),
                        fmt::format("at step {} of the rollout", buffers.first() + chunk.t + 1));
}

// A float64 sum of float32 values stays finite unless one of them is not. Rows are independent within a rollout, so only the
// row's own observations can be the source.
void ChunkRecorder::RefuseReward(const RolloutBuffers& buffers, const Chunk& chunk) const {
  uint64_t r = chunk.begin;
  while (std::isfinite(rows_.state[r].episode_return)) ++r;
  const uint64_t step = chunk.t + 1;
  std::string sentence =
      fmt::format("the reward of row {} is not a finite number at step {} of the rollout", r, buffers.first() + step);
  if (const auto source = FirstNonFinite(buffers, r, r + 1, step))
    sentence = source->text + (source->step < step ? "; then: " + sentence : ", nor is the reward");
  throw TrialFailure(BP_E_NUMERIC, env_.id(), sentence);
}

}  // namespace backplane
