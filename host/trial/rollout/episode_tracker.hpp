// Accumulates an episode: return, length and end. The env terminates an episode; the env's own time limit or the host's
// truncates it. All players (collector, evaluator, scorer of candidates) count with this class.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "rollout/instance.hpp"

namespace backplane {

class EpisodeTracker {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  // The channels of one step, from the first of n rows on.
  struct Step {
    const float* reward;        // [n, rewards_per_row]
    const uint8_t* terminated;  // [n]
    const uint8_t* cut_by_env;  // [n], for an env that owns its time limit
    // [n], written: truncated by env or host. The same array as cut_by_env if only the env truncates; then read
    uint8_t* truncated;
    uint64_t rewards_per_row = 1;  // the number of agents, or 1
    // [n], for an env with wrappers: the returns of the innermost env's episodes, which replace the sums of `reward`; NULL:
    // none
    const double* own_return = nullptr;
  };
  struct Seen {
    unsigned flags = 0;  // OR over all rows: 0 if no episode has ended, above 1 if some flag is invalid
    bool not_finite = false;
  };

  // The host's limit: max_episode_steps of an env that does not own its time limit.
  explicit EpisodeTracker(const EnvInstance& env);

  bool env_cuts() const { return env_cuts_; }
  int64_t limit() const { return limit_; }           // of an episode, enforced by the host; kNoLimit: none
  void set_limit(int64_t steps) { limit_ = steps; }  // [control]

  // Adds a step to `rows` [n], which have an episode_return and an episode_length. Adds rewards in the order of time
  // and, within a step, of agents. [rows]
  template <class Row>
  Seen Add(Row* rows, uint64_t n, const Step& step) const {
    const bool one = step.rewards_per_row == 1;
    if (step.own_return != nullptr) return AddWrapped(rows, n, step);
    if (!env_cuts_) return one ? AddStep<kHost, true>(rows, n, step) : AddStep<kHost, false>(rows, n, step);
    if (step.cut_by_env == step.truncated)
      return one ? AddStep<kEnv, true>(rows, n, step) : AddStep<kEnv, false>(rows, n, step);
    return one ? AddStep<kBoth, true>(rows, n, step) : AddStep<kBoth, false>(rows, n, step);
  }

  // Calls visit(i) for each of the n rows whose episode ended in the step, in order. Tests eight rows at a time, because ends
  // are rare.
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

  // Throws TrialFailure with the flag's name if one of a row's two flags is neither 0 nor 1. `when`: "at step 3 of the
  // rollout".
  void CheckFlags(uint64_t row, uint8_t terminated, uint8_t truncated, const std::string& when) const;

 private:
  enum Cuts { kEnv, kHost, kBoth };

  // Has no branch that depends on a row; rare events are looked up afterwards. One reward per row is the usual case and worth
  // its own loop.
  template <Cuts kCuts, bool kOneReward, class Row>
  [[gnu::noinline]] Seen AddStep(Row* __restrict row, uint64_t n, const Step& step) const {
    const float* __restrict reward = step.reward;
    const uint8_t* __restrict terminated = step.terminated;
    const uint8_t* __restrict cut_by_env = step.cut_by_env;
    uint8_t* __restrict truncated = step.truncated;
    const uint64_t rewards_per_row = step.rewards_per_row;
    const int64_t limit = limit_;
    unsigned flags = 0;
    double not_finite = 0;  // 0 * x is 0 for finite x, otherwise NaN, which persists
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

  // The same for a wrapped env, whose rewards only have to be finite.
  template <class Row>
  Seen AddWrapped(Row* rows, uint64_t n, Step step) const {
    const double* own = std::exchange(step.own_return, nullptr);
    const Seen seen = Add(rows, n, step);
    for (uint64_t i = 0; !seen.not_finite && i < n; ++i) rows[i].episode_return = own[i];
    return seen;
  }

  const EnvInstance& env_;
  const bool env_cuts_;
  int64_t limit_;
};

}  // namespace backplane
