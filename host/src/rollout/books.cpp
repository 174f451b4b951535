#include "rollout/books.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "rollout/flags.hpp"
#include "rollout/non_finite.hpp"

namespace backplane {
namespace {

struct Seen {
  unsigned ended = 0;  // all flags together
  bool broken = false;
};

// Adds one step of n rows, without a branch that depends on a row: what is rare is looked up afterwards. `truncated` is
// written, or read where the env cuts episodes itself. One reward per row is the usual case and worth a loop of its own.
template <bool kEnvCuts, bool kOneReward>
Seen AddStep(RowState* __restrict row, uint64_t n, const float* __restrict reward, uint64_t rewards_per_row,
             const uint8_t* __restrict terminated, uint8_t* __restrict truncated, int64_t time_limit) {
  unsigned ended = 0;
  double not_finite = 0;  // 0 times a number is 0, times anything else NaN, which stays
  for (uint64_t i = 0; i < n; ++i) {
    double sum = row[i].episode_return;
    if constexpr (kOneReward)
      sum += reward[i];
    else
      for (uint64_t a = 0; a < rewards_per_row; ++a) sum += *reward++;
    row[i].episode_return = sum;
    not_finite += 0 * sum;
    const int64_t length = ++row[i].episode_length;
    if constexpr (!kEnvCuts) truncated[i] = length >= time_limit;
    ended |= terminated[i] | truncated[i];
  }
  return {ended, not_finite != 0};
}

// Calls visit(i) for every i < n with a[i] or b[i] set, in order. Eight flags a look: ends are rare.
template <class Function>
void ForEachSet(const uint8_t* a, const uint8_t* b, uint64_t n, Function&& visit) {
  static_assert(std::endian::native == std::endian::little);
  for (uint64_t i = 0; i < n; i += 8) {
    uint64_t x = 0, y = 0;
    const uint64_t bytes = std::min<uint64_t>(8, n - i);
    std::memcpy(&x, a + i, bytes);
    std::memcpy(&y, b + i, bytes);
    for (uint64_t flags = x | y; flags != 0;) {
      const auto byte = static_cast<uint64_t>(std::countr_zero(flags)) / 8;
      visit(i + byte);
      flags &= ~(uint64_t{0xFF} << (8 * byte));
    }
  }
}

}  // namespace

Books::Books(const EnvInstance& env, uint64_t seed, bool moments)
    : env_(env),
      rows_(env.rows(), seed, BP_PURPOSE_ENV_EPISODE),
      moments_(moments),
      env_cuts_((env.flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0),
      time_limit_(env.spec().max_episode_steps > 0 ? env.spec().max_episode_steps : std::numeric_limits<int64_t>::max()) {}

void Books::MakeRoom(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const {
  for (Chunk& chunk : chunks) {
    const uint64_t most = (chunk.end - chunk.begin) * buffers.horizon();
    const bool kept_by_env = buffers.final_obs != nullptr;
    if (!kept_by_env) chunk.final_obs = AllocateAligned(most * buffers.obs_lead * buffers.obs->row_bytes(), false);
    if (!kept_by_env && buffers.state)
      chunk.final_state = AllocateAligned(most * buffers.state_lead * buffers.state->row_bytes(), false);
    chunk.episodes.reserve(most);
    chunk.infos.reserve(most * buffers.infos.size());
  }
}

void Books::StartRollout(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const {
  for (Chunk& chunk : chunks) {
    chunk.episodes.clear();
    chunk.infos.clear();
    if (moments_) chunk.moments.Reset(buffers.obs->row_elements());
  }
}

bool Books::Keep(RolloutBuffers& buffers, Chunk& chunk) {
  const uint64_t t = chunk.t, n = chunk.end - chunk.begin;
  const uint8_t* terminated = buffers.terminated->at<uint8_t>(t, chunk.begin);
  uint8_t* truncated = buffers.truncated->at<uint8_t>(t, chunk.begin);
  const auto add = buffers.reward_lead == 1 ? (env_cuts_ ? AddStep<true, true> : AddStep<false, true>)
                                            : (env_cuts_ ? AddStep<true, false> : AddStep<false, false>);
  const Seen seen = add(&rows_.state[chunk.begin], n, buffers.reward->at<float>(t, chunk.begin * buffers.reward_lead),
                        buffers.reward_lead, terminated, truncated, time_limit_);
  if (seen.broken) RefuseReward(buffers, chunk);
  if (seen.ended > 1) RefuseFlags(buffers, chunk);
  if (seen.ended != 0) ForEachSet(terminated, truncated, n, [&](uint64_t i) { EndEpisode(buffers, chunk, chunk.begin + i); });
  if (moments_)
    for (uint64_t r = chunk.begin * buffers.obs_lead; r < chunk.end * buffers.obs_lead; ++r)
      chunk.moments.Add(buffers.obs->at<float>(t, r));
  return seen.ended != 0;
}

void Books::EndEpisode(RolloutBuffers& buffers, Chunk& chunk, uint64_t r) {
  const uint64_t t = chunk.t, place = chunk.episodes.size();
  const double* info = chunk.infos.data() + chunk.infos.size();
  for (ChannelBuffer* buffer : buffers.infos) chunk.infos.push_back(buffer->Number(t, r));
  chunk.episodes.push_back({t, r, rows_.state[r].episode_return, rows_.state[r].episode_length, info});
  const auto keep = [&](ChannelBuffer* source, uint64_t lead, AlignedBytes& out) {
    if (source)
      std::memcpy(out.get() + place * lead * source->row_bytes(), source->row(t + 1, r * lead), lead * source->row_bytes());
  };
  if (buffers.final_obs == nullptr) {
    keep(buffers.obs, buffers.obs_lead, chunk.final_obs);
    keep(buffers.state, buffers.state_lead, chunk.final_state);
  }
  rows_.StartEpisode(r);
  rows_.mask[r] = 1;
}

// Of all flags together it is known that some are wrong; two that are right never make one that is not.
void Books::RefuseFlags(RolloutBuffers& buffers, const Chunk& chunk) const {
  for (uint64_t r = chunk.begin; r < chunk.end; ++r) {
    const uint8_t terminated = *buffers.terminated->at<uint8_t>(chunk.t, r), cut = *buffers.truncated->at<uint8_t>(chunk.t, r);
    if ((terminated | cut) > 1) RefuseFlag(env_, r, terminated, cut, fmt::format("at step {} of the rollout", chunk.t + 1));
  }
}

// A sum of float32 in float64 stays finite unless one of them was not.
// Rows have nothing to do with each other within a rollout, so only the row's own observations can be the source.
void Books::RefuseReward(const RolloutBuffers& buffers, const Chunk& chunk) const {
  uint64_t r = chunk.begin;
  while (std::isfinite(rows_.state[r].episode_return)) ++r;
  const uint64_t step = chunk.t + 1;
  std::string sentence = fmt::format("the reward of row {} is not a finite number at step {} of the rollout", r, step);
  if (const auto source = FirstNonFinite(buffers, r, r + 1, step))
    sentence = source->text + (source->step < step ? "; it came before: " + sentence : ", nor is the reward");
  throw TrialFailure(BP_E_NUMERIC, env_.id(), sentence);
}

}  // namespace backplane
