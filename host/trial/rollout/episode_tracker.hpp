// What a step adds to an episode: its return, its length and its end. An episode is terminated by the env, or truncated by the
// env's own time limit or by the host's. Whoever plays (collector, evaluator, scorer of candidates) counts by this alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "rollout/instance.hpp"

namespace backplane {

class EpisodeTracker {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  // What tells of one step, from the first of n rows on.
  struct Step {
    const float* reward;           // [n, rewards_per_row]
    const uint8_t* terminated;     // [n]
    const uint8_t* cut_by_env;     // [n], of an env that owns its time limit
    uint8_t* truncated;            // [n], written: cut by env or host. Where it is cut_by_env, by the env alone, and read
    uint64_t rewards_per_row = 1;  // one for each agent, or one
  };
  struct Seen {
    unsigned flags = 0;  // of all rows together: 0 if no episode has ended, above 1 if one of them is no flag
    bool not_finite = false;
  };

  // The host's limit: max_episode_steps of an env that does not own its time limit.
  explicit EpisodeTracker(const EnvInstance& env);

  bool env_cuts() const { return env_cuts_; }
  int64_t limit() const { return limit_; }           // of an episode, for the host to hold; kNoLimit: none
  void set_limit(int64_t steps) { limit_ = steps; }  // [control]

  // Adds a step to `rows` [n], which have an episode_return and an episode_length. Sums in the order of time, and of agents
  // within a step. [rows]
  template <class Row>
  Seen Add(Row* rows, uint64_t n, const Step& step) const {
    const bool one = step.rewards_per_row == 1;
    if (!env_cuts_) return one ? AddStep<kHost, true>(rows, n, step) : AddStep<kHost, false>(rows, n, step);
    if (step.cut_by_env == step.truncated)
      return one ? AddStep<kEnv, true>(rows, n, step) : AddStep<kEnv, false>(rows, n, step);
    return one ? AddStep<kBoth, true>(rows, n, step) : AddStep<kBoth, false>(rows, n, step);
  }

  // Calls visit(i) for each of the n rows whose episode the step has ended, in order. Eight a look: ends are rare.
  template <class Function>
  static void ForEachEnd(const Step& step, uint64_t n, Function&& visit) {
    static_assert(std::endian::native == std::endian::little);
    const auto flags_from = [terminated = step.terminated, truncated = step.truncated](uint64_t i, uint64_t bytes) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, terminated + i, bytes);
      std::memcpy(&y, truncated + i, bytes);
      return x | y;
    };
    for (uint64_t i = 0; i < n; i += 8) {
      for (uint64_t flags = i + 8 <= n ? flags_from(i, 8) : flags_from(i, n - i); flags != 0;) {
        const auto byte = static_cast<uint64_t>(std::countr_zero(flags)) / 8;
        visit(i + byte);
        flags &= ~(uint64_t{0xFF} << (8 * byte));
      }
    }
  }

  // If one of a row's two flags is neither 0 nor 1, a byte that nobody meant to be a flag: throws TrialFailure that names it.
  // `when`: "at step 3 of the rollout".
  void CheckFlags(uint64_t row, uint8_t terminated, uint8_t truncated, const std::string& when) const;

 private:
  enum Cuts { kEnv, kHost, kBoth };

  // Without a branch that depends on a row: what is rare is looked up afterwards. One reward per row is the usual case and
  // worth a loop of its own.
  template <Cuts kCuts, bool kOneReward, class Row>
  [[gnu::noinline]] Seen AddStep(Row* __restrict row, uint64_t n, const Step& step) const {
    const float* __restrict reward = step.reward;
    const uint8_t* __restrict terminated = step.terminated;
    const uint8_t* __restrict cut_by_env = step.cut_by_env;
    uint8_t* __restrict truncated = step.truncated;
    const uint64_t rewards_per_row = step.rewards_per_row;
    const int64_t limit = limit_;
    unsigned flags = 0;
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
      if constexpr (kCuts == kHost) truncated[i] = length >= limit;
      if constexpr (kCuts == kBoth) truncated[i] = static_cast<uint8_t>(cut_by_env[i] | (length >= limit));
      flags |= terminated[i] | truncated[i];
    }
    return {flags, not_finite != 0};
  }

  const EnvInstance& env_;
  const bool env_cuts_;
  int64_t limit_;
};

}  // namespace backplane
