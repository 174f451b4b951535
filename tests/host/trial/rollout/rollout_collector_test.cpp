#include "rollout/rollout_collector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr uint64_t kRows = 10, kHorizon = 50;

const bp_tensor* Find(const bp_delivery& d, const std::string& name) {
  for (uint64_t i = 0; i < d.n_tensors; ++i)
    if (name == d.names[i]) return d.tensors[i];
  ADD_FAILURE() << "no tensor " << name;
  return nullptr;
}

template <class T>
T At(const bp_tensor* t, uint64_t i, uint64_t j, uint64_t k = 0) {
  return static_cast<const T*>(t->data)[i * t->strides[0] + j * (t->ndim > 1 ? t->strides[1] : 0) + k];
}

// Everything that a learner receives of a rollout, as one string of bytes.
std::string Bytes(const bp_delivery& d) {
  std::string out;
  for (uint64_t i = 0; i < d.n_tensors; ++i) {
    const bp_tensor* t = d.tensors[i];
    uint64_t inner = t->dtype.bits / 8;
    for (int k = 1; k < t->ndim; ++k) inner *= t->shape[k];
    for (int64_t e = 0; e < t->shape[0]; ++e)
      out.append(static_cast<const char*>(t->data) + e * t->strides[0] * (t->dtype.bits / 8), inner);
  }
  return out;
}

TEST(RolloutCollector, GivesTheSameBytesForAnyNumberOfThreads) {
  std::vector<std::string> seen;
  for (unsigned threads : {1u, 2u, 3u}) {
    ToyTrial trial(kRows, threads, 3);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(trial.Collect(kHorizon));
    seen.push_back(Bytes(trial.collector->Delivery()));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(RolloutCollector, StoresOnlyValidTransitions) {
  ToyTrial trial(kRows, 2);
  trial.Collect(kHorizon);
  const bp_delivery d = trial.collector->Delivery();
  const bp_tensor *obs = Find(d, "obs"), *terminated = Find(d, "terminated"), *truncated = Find(d, "truncated");
  EXPECT_EQ(obs->shape[0], static_cast<int64_t>(kHorizon + 1));
  for (uint64_t t = 0; t < kHorizon; ++t)
    for (uint64_t r = 0; r < kRows; ++r) {
      EXPECT_EQ(At<float>(obs, t, r, 0), r);
      const bool ended = At<uint8_t>(terminated, t, r) || At<uint8_t>(truncated, t, r);
      EXPECT_EQ(At<float>(obs, t + 1, r, 1), ended ? 0 : At<float>(obs, t, r, 1) + 1);
    }
}

// The step keys the noise of an action: a repeated number would repeat the noise.
TEST(RolloutCollector, ContinuesTheStepCountAcrossRollouts) {
  static std::vector<uint64_t> steps;
  ToyTrial trial(kRows, 1, kRows);
  g_switches.on_act = [](const bp_act& act) { steps.push_back(act.step); };
  ASSERT_TRUE(trial.Collect(3));
  ASSERT_TRUE(trial.Collect(2));
  g_switches.on_act = nullptr;
  EXPECT_THAT(steps, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(RolloutCollector, CutsAtExactlyTheTimeLimitAndKeepsTheLastObservation) {
  ToyTrial trial(kRows, 2);
  for (int i = 0; i < 5; ++i) trial.Collect(kHorizon);
  const bp_delivery d = trial.collector->Delivery();
  const bp_tensor *final_obs = Find(d, "final_obs"), *index = Find(d, "final_index");
  const bp_tensor *obs = Find(d, "obs"), *truncated = Find(d, "truncated");
  ASSERT_GT(index->shape[0], 0);
  uint64_t cut = 0;
  for (int64_t e = 0; e < index->shape[0]; ++e) {
    const auto at = static_cast<uint64_t>(static_cast<const int64_t*>(index->data)[e]);
    const uint64_t t = at / kRows, r = at % kRows;
    EXPECT_EQ(At<float>(final_obs, e, 0, 0), r);
    EXPECT_EQ(At<float>(final_obs, e, 0, 1), At<float>(obs, t, r, 1) + 1)
        << "the state that was reached, not the next episode's";
    EXPECT_EQ(At<uint8_t>(truncated, t, r), At<float>(final_obs, e, 0, 1) == kTimeLimit);
    cut += At<uint8_t>(truncated, t, r);
  }
  EXPECT_GT(cut, 0u);
}

TEST(RolloutCollector, CutsAtTheEnvsOwnTimeLimit) {
  g_switches.owns_time_limit = true;
  ToyTrial trial(kRows, 2, 3);
  g_switches.owns_time_limit = false;
  ASSERT_TRUE(trial.Collect(kHorizon));
  const bp_delivery d = trial.collector->Delivery();
  const bp_tensor* truncated = Find(d, "truncated");
  uint64_t cut = 0;
  for (const Episode& e : trial.collector->episodes()) {
    EXPECT_LE(e.length, OwnLimit(e.row));
    EXPECT_EQ(At<uint8_t>(truncated, e.t, e.row), e.length == OwnLimit(e.row));
    cut += e.length == OwnLimit(e.row);
  }
  EXPECT_GT(cut, 0u);
}

TEST(RolloutCollector, ListsEpisodesByTimeAndRow) {
  ToyTrial trial(kRows, 2);
  trial.Collect(kHorizon);
  const auto& episodes = trial.collector->episodes();
  ASSERT_GT(episodes.size(), 10u);
  for (size_t i = 1; i < episodes.size(); ++i)
    EXPECT_LT(episodes[i - 1].t * kRows + episodes[i - 1].row, episodes[i].t * kRows + episodes[i].row);
  EXPECT_THAT(trial.collector->info_names(), testing::ElementsAre("ep/steps"));
  for (const Episode& e : episodes) EXPECT_EQ(e.info[0], static_cast<double>(e.length));
}

TEST(RolloutCollector, SumsTheRewardsOfAnEpisode) {
  ToyTrial trial(kRows, 1);
  trial.Collect(kHorizon);
  const bp_delivery d = trial.collector->Delivery();
  const Episode& first = trial.collector->episodes().front();
  double sum = 0;
  for (uint64_t t = 0; t <= first.t; ++t) sum += At<float>(Find(d, "reward"), t, first.row);
  EXPECT_DOUBLE_EQ(first.episode_return, sum);
}

TEST(RolloutCollector, MomentsCoverObservationsActedOn) {
  ToyTrial trial(kRows, 2, 3);
  trial.Collect(kHorizon);
  const bp_delivery d = trial.collector->Delivery();
  const bp_tensor* obs = Find(d, "obs");
  double sum = 0, squares = 0;
  for (uint64_t t = 0; t < kHorizon; ++t)
    for (uint64_t r = 0; r < kRows; ++r) sum += At<float>(obs, t, r, 1);
  const double n = kHorizon * kRows, mean = sum / n;
  for (uint64_t t = 0; t < kHorizon; ++t)
    for (uint64_t r = 0; r < kRows; ++r) squares += std::pow(At<float>(obs, t, r, 1) - mean, 2);
  EXPECT_EQ(*static_cast<double*>(Find(d, "obs_count")->data), n);
  EXPECT_NEAR(static_cast<double*>(Find(d, "obs_mean")->data)[1], mean, 1e-12);
  EXPECT_NEAR(static_cast<double*>(Find(d, "obs_m2")->data)[1], squares, 1e-9);
}

TEST(RolloutCollector, ALongerHorizonContinuesTheSameEpisodes) {
  ToyTrial once(kRows, 1), twice(kRows, 1);
  once.Collect(60);
  twice.Collect(20);
  twice.Collect(40);
  const bp_delivery a = once.collector->Delivery(), b = twice.collector->Delivery();
  for (uint64_t t = 0; t <= 40; ++t)
    for (uint64_t r = 0; r < kRows; ++r) EXPECT_EQ(At<float>(Find(a, "obs"), t + 20, r, 2), At<float>(Find(b, "obs"), t, r, 2));
}

TEST(RolloutCollector, MomentsDoNotDependOnTheRowsOfACall) {
  const auto seen = [](uint64_t chunk_rows, uint64_t moment_rows) {
    ToyTrial trial(kRows, 1);
    RolloutCollector collector(*trial.env, *trial.learner, *trial.pool, {chunk_rows, 7, moment_rows}, trial.cancelled, [] {});
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    EXPECT_TRUE(collector.Collect(kHorizon, trial.clocks));
    return Bytes(collector.Delivery());
  };
  EXPECT_EQ(seen(6, 3), seen(3, 0));
  EXPECT_EQ(seen(9, 3), seen(3, 3));
  EXPECT_NE(seen(6, 0), seen(3, 0)) << "these add in a different order";
}

// Each step and each end of an episode, as a learner receives them, over rollouts of these lengths.
std::string StepsOf(const std::vector<uint64_t>& horizons, uint64_t rows, unsigned threads, uint64_t chunk_rows) {
  ToyTrial trial(rows, threads, chunk_rows);
  std::string steps, finals, ends;
  const auto add = [](const bp_tensor* t, int64_t n, std::string* out) {
    const int64_t bytes = t->dtype.bits / 8;
    for (int64_t e = 0; e < n; ++e) {
      uint64_t inner = static_cast<uint64_t>(bytes);
      for (int k = 1; k < t->ndim; ++k) inner *= static_cast<uint64_t>(t->shape[k]);
      out->append(static_cast<const char*>(t->data) + e * t->strides[0] * bytes, inner);
    }
  };
  std::map<std::string, std::string> channels;
  for (const uint64_t horizon : horizons) {
    EXPECT_TRUE(trial.Collect(horizon));
    const bp_delivery d = trial.collector->Delivery();
    for (const char* name : {"obs", "action", "twice", "reward", "terminated", "truncated"})
      add(Find(d, name), static_cast<int64_t>(horizon), &channels[name]);
    add(Find(d, "final_obs"), Find(d, "final_obs")->shape[0], &finals);
    for (const Episode& e : trial.collector->episodes())
      ends += std::to_string(e.row) + ' ' + std::to_string(e.episode_return) + ' ' + std::to_string(e.info[0]) + '\n';
  }
  for (const auto& [name, bytes] : channels) steps += name + bytes;
  return steps + finals + ends;
}

TEST(RolloutCollector, LongRolloutOfFewRowsEqualsShortOnes) {
  const std::string wanted = StepsOf(std::vector<uint64_t>(11, 1000), 3, 1, 3);
  EXPECT_EQ(StepsOf({5000, 5000, 300, 700}, 3, 1, 3), wanted);
  EXPECT_EQ(StepsOf({500, 6000, 4500}, 3, 2, 1), StepsOf(std::vector<uint64_t>(11, 1000), 3, 1, 1));
}

// obs 12, action 4, twice 4, reward 4, ep/steps 4, terminated 1, truncated 1: 30 bytes per step, and one more observation.
TEST(RolloutCollector, LongRolloutOfOneRowUsesOnlyTheBytesOfItsNumbers) {
  ToyTrial trial(1, 1, 1);
  trial.collector->Prepare(100'000);
  uint64_t bytes = 0;
  for (const char* name : {"obs", "action", "twice", "reward", "ep/steps", "terminated", "truncated"})
    bytes += trial.collector->Buffer(name)->bytes();
  EXPECT_EQ(bytes, 12 + 30 * 100'000u);
}

TEST(RolloutCollector, GivesTheLearnerTheEnvsOwnBuffers) {
  ToyTrial trial(kRows, 1);
  trial.Collect(kHorizon);
  EXPECT_EQ(Find(trial.collector->Delivery(), "obs")->data, trial.collector->Buffer("obs")->row(0, 0));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(trial.collector->Buffer("obs")->row(1, 0)) % 64, 0u);
}

TEST(RolloutCollector, FailingStepEndsTheRolloutWithThePluginsError) {
  ToyTrial trial(kRows, 2);
  g_switches.fail_step = 5;
  try {
    trial.Collect(kHorizon);
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_STREQ(e.what(), "env.toy: step: the toy broke");
    EXPECT_EQ(e.plugin(), "env.toy");
  }
}

TEST(RolloutCollector, SignalsLifeAfterEverySlowStep) {
  ToyTrial trial(4, 1);
  g_switches.on_step = [] {
    for (const int64_t end = NowNs() + 200'000; NowNs() < end;) {
    }
  };
  trial.Collect(32);
  g_switches.on_step = nullptr;
  EXPECT_GE(trial.beats, 32) << "one chunk, 32 steps";
}

TEST(RolloutCollector, RejectsAKeptChannelWithoutAWriter) {
  g_switches.keep = "flags";
  try {
    ToyTrial trial(kRows, 1);
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_EQ(e.status(), BP_E_UNSUPPORTED);
    EXPECT_STREQ(e.what(), "learner.toy: keeps the channel 'flags', which neither it nor env.toy writes");
  }
  g_switches.keep = nullptr;
}

TEST(RolloutCollector, ANaNRewardIsANumericFailure) {
  ToyTrial trial(kRows, 2);
  g_switches.nan_row = 3;
  try {
    trial.Collect(kHorizon);
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_EQ(e.status(), BP_E_NUMERIC);
    EXPECT_THAT(e.what(), testing::HasSubstr("row 3"));
  }
}

TEST(RolloutCollector, StopsInTheMiddleWhenCancelled) {
  ToyTrial trial(kRows, 2);
  trial.cancelled = true;
  EXPECT_FALSE(trial.Collect(kHorizon));
}

TEST(RolloutCollector, PhasesOfARunnerNeverOverlap) {
  ToyTrial trial(kRows, 2);
  const int64_t start = NowNs();
  for (int i = 0; i < 20; ++i) trial.Collect(kHorizon);
  const int64_t wall = NowNs() - start;
  for (const PhaseClock& clock : trial.clocks) {
    EXPECT_LE(clock.total_ns(), wall);
    for (size_t p = 0; p < kPhaseCount; ++p) EXPECT_GE(clock.ns(static_cast<Phase>(p)), 0);
  }
  EXPECT_GT(trial.clocks[0].ns(Phase::kEnvStep), 0);
}

TEST(RolloutCollector, RejectsAnInvalidFlag) {
  g_switches.owns_time_limit = true;
  g_switches.cut_flag = 2;
  {
    ToyTrial trial(kRows, 1);
    try {
      trial.Collect(kHorizon);
      ADD_FAILURE();
    } catch (const TrialFailure& failure) {
      EXPECT_THAT(failure.what(), testing::AllOf(testing::HasSubstr("env.toy: step: channel 'truncated' of row "),
                                                 testing::HasSubstr(": expected 0 or 1, got 2 at step ")));
    }
  }
  g_switches.cut_flag = 1;
  g_switches.owns_time_limit = false;
}

TEST(RolloutCollector, RejectsBuffersWithOverflowingSizes) {
  const ToyTrial trial(kRows, 1);
  for (const uint64_t entries : {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 64 + 2}) {
    try {
      const ChannelBuffer buffer(*bp::FindChannel(trial.env->spec(), "obs"), kRows, entries);
      ADD_FAILURE() << entries;
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), BP_E_OOM_HOST);
      EXPECT_THAT(failure.what(), testing::HasSubstr("channel 'obs': expected"));
    }
  }
}

}  // namespace
}  // namespace backplane::toy
