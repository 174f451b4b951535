// A learner's memory (BP_ROLE_CARRY) in rollouts, evaluations and evaluations of candidates. The learners count the steps of
// each episode, which the envs observe as well, so every number is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "rollout/candidate_scorer.hpp"
#include "rollout/row_snapshots.hpp"
#include "toy_plugins.hpp"
#include "twin_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr uint64_t kCarryRows = 10;

// While it lives, the next learners have a memory.
struct Carries {
  Carries() { g_switches.carries = twin::g_switches.carries = true; }
  ~Carries() { g_switches.carries = twin::g_switches.carries = false; }
  Carries(const Carries&) = delete;
};

std::map<std::string, const bp_tensor*> ByName(const bp_delivery& d) {
  std::map<std::string, const bp_tensor*> out;
  for (uint64_t i = 0; i < d.n_tensors; ++i) out[d.names[i]] = d.tensors[i];
  return out;
}

template <class T>
T ValueAt(const bp_tensor* t, uint64_t i, uint64_t j = 0, uint64_t k = 0) {
  return static_cast<const T*>(t->data)[i * t->strides[0] + (t->ndim > 1 ? j * t->strides[1] : 0) + k];
}

// Compares every entry of a rollout, and the values at the ends of episodes. Returns the number of ends.
int64_t ExpectCounts(RolloutCollector& collector) {
  const auto given = ByName(collector.Delivery());
  const bp_tensor *count = given.at("count"), *obs = given.at("obs"), *final_count = given.at("final_count");
  EXPECT_EQ(count->shape[0], obs->shape[0]) << "T + 1 entries";
  int wrong = 0;
  for (int64_t t = 0; t < obs->shape[0]; ++t)
    for (int64_t r = 0; r < obs->shape[1]; ++r)
      wrong += static_cast<float>(ValueAt<int32_t>(count, t, r)) != ValueAt<float>(obs, t, r, 1);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(final_count->shape[0], given.at("final_index")->shape[0]);
  for (int64_t e = 0; e < final_count->shape[0]; ++e)
    EXPECT_EQ(static_cast<float>(ValueAt<int32_t>(final_count, e)), ValueAt<float>(given.at("final_obs"), e, 1));
  return final_count->shape[0];
}

// The third rollout is long enough to be copied step by step.
TEST(Carry, EntriesOfARolloutCountTheStepsOfEachEpisode) {
  const Carries carries;
  ToyTrial trial(kCarryRows, 2, 3);
  for (const uint64_t horizon : {50, 50, 5000, 5000, 3, 3, 20}) {
    ASSERT_TRUE(trial.Collect(horizon));
    EXPECT_GT(ExpectCounts(*trial.collector), horizon < 10 ? 0 : 10) << horizon;
  }
}

TEST(Carry, EveryAgentHasItsOwn) {
  const Carries carries;
  twin::TwinTrial trial(twin::Form::kOrdinary, kCarryRows, 2, 3);
  for (const uint64_t horizon : {20, 20, 5000, 7}) {
    ASSERT_TRUE(trial.Collect(horizon));
    ChannelBuffer &count = *trial.collector->Buffer("count"), &obs = *trial.collector->Buffer("obs");
    ASSERT_EQ(count.lead(), 2 * kCarryRows);
    int wrong = 0;
    for (uint64_t t = 0; t <= horizon; ++t)
      for (uint64_t i = 0; i < 2 * kCarryRows; ++i) {
        const float steps = obs.at<float>(t, i)[2];
        wrong += count.at<float>(t, i)[0] != steps || count.at<float>(t, i)[1] != -steps;
      }
    EXPECT_EQ(wrong, 0) << horizon;
    const auto given = ByName(trial.collector->Delivery());
    EXPECT_EQ(given.count("count"), 0u) << "it keeps none";
    const bp_tensor *last = given.at("final_count"), *last_obs = given.at("final_obs");
    ASSERT_EQ(last->shape[0], 2 * given.at("final_index")->shape[0]);
    for (int64_t e = 0; e < last->shape[0]; ++e) EXPECT_EQ(ValueAt<float>(last, e, 0), ValueAt<float>(last_obs, e, 2));
  }
}

// Parts of 5000 steps are copied step by step.
TEST(Carry, PartsOfARolloutContinueIt) {
  const Carries carries;
  for (const auto& [horizon, length] : {std::pair<uint64_t, uint64_t>{23, 1}, {23, 3}, {11'000, 5000}}) {
    ToyTrial trial(kCarryRows, 2, 3);
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    int64_t ends = 0;
    for (uint64_t i = 0; i < 2; ++i)
      for (uint64_t k = 0; k < RolloutPart(horizon, length, 0).count; ++k) {
        ASSERT_TRUE(trial.collector->Collect(RolloutPart(horizon, length, k), trial.clocks));
        ends += ExpectCounts(*trial.collector);
      }
    EXPECT_GT(ends, 20) << length;
  }
}

TEST(Carry, ContinuesAfterAResume) {
  const Carries carries;
  ToyTrial before(kCarryRows, 1, 3), after(kCarryRows, 2, 3);
  ASSERT_TRUE(before.Collect(30));
  const std::vector<std::byte> states = before.collector->SaveStateEntries();
  EXPECT_EQ(states.size(), kCarryRows * (3 + 1) * 4) << "obs and count";
  LoadRows(*after.env, 0, kCarryRows, SaveRows(*before.env, 0, kCarryRows));
  after.collector->Restore(before.collector->rows().state, before.collector->policy_steps(), states, 30);
  ASSERT_TRUE(after.Collect(30));
  EXPECT_GT(ExpectCounts(*after.collector), 10);
  ASSERT_TRUE(before.Collect(30));
  const auto wanted = ByName(before.collector->Delivery()), got = ByName(after.collector->Delivery());
  for (uint64_t t = 0; t <= 30; ++t)
    for (uint64_t r = 0; r < kCarryRows; ++r)
      ASSERT_EQ(ValueAt<int32_t>(got.at("count"), t, r), ValueAt<int32_t>(wanted.at("count"), t, r)) << t << ", " << r;
  EXPECT_GT(ValueAt<int32_t>(wanted.at("count"), 0, 0) + ValueAt<int32_t>(wanted.at("count"), 0, 1), 0)
      << "in the middle of an episode";
}

TEST(Carry, NewEpisodesStartFromZero) {
  const Carries carries;
  ToyTrial trial(kCarryRows, 2, 3);
  ASSERT_TRUE(trial.Collect(30));
  trial.collector->ReleaseEnv();
  ASSERT_TRUE(trial.Collect(30));
  EXPECT_GT(ExpectCounts(*trial.collector), 10);
  trial.collector->ReleaseEnv();
  trial.collector->StartAfresh(trial.collector->rows().state, 100);
  ASSERT_TRUE(trial.Collect(5));
  ExpectCounts(*trial.collector);
}

// A counting learner that is never reset acts with larger numbers.
double ReturnOf(double length) { return length * (length - 1) / 2; }

TEST(Carry, EachEpisodeOfAnEvaluationStartsFromZero) {
  const Carries carries;
  constexpr uint64_t kEpisodes = 300;
  for (const uint64_t chunk_rows : {1, 4, 16}) {
    ToyTrial trial(RowsForEpisodes(kEpisodes, chunk_rows), 2, chunk_rows);
    Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, chunk_rows, 7, trial.cancelled, [] {});
    evaluator.PlayEpisodes(kEpisodes);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const EvaluationResult result = evaluator.Play(Evaluator::Policy::kLearner, trial.clocks);
      ASSERT_EQ(result.returns.size(), kEpisodes);
      for (size_t e = 0; e < kEpisodes; ++e)
        EXPECT_EQ(result.returns[e], ReturnOf(result.lengths[e])) << chunk_rows << " rows in a chunk, " << e;
      ToyTrial one_each(kEpisodes, 1, 4);
      Evaluator other(*one_each.env, *one_each.learner, *one_each.pool, 4, 7, one_each.cancelled, [] {});
      EXPECT_EQ(other.Play(Evaluator::Policy::kLearner, one_each.clocks).lengths, result.lengths);
    }
  }
}

// A finished row plays on until its chunk is done, and its further episodes start from zeros as well.
TEST(Carry, AFinishedRowStartsFromZeroToo) {
  const Carries carries;
  static int starts = 0, wrong = 0;
  starts = wrong = 0;
  ToyTrial trial(8, 1, 8);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 8, 7, trial.cancelled, [] {});
  g_switches.on_act = [](const bp_act& act) {
    for (uint64_t r = act.begin; r < act.end; ++r) {
      const float steps = static_cast<const float*>(act.in[0]->data)[3 * r + 1];
      wrong += static_cast<float>(static_cast<const int32_t*>(act.in[1]->data)[r]) != steps;
      starts += steps == 0;
    }
  };
  evaluator.Play(Evaluator::Policy::kLearner, trial.clocks);
  g_switches.on_act = nullptr;
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(starts, 8) << "some row plays a second episode";
}

TEST(Carry, EachEpisodeOfACandidateStartsFromZero) {
  const Carries carries;
  constexpr uint64_t kCandidates = 7, kEpisodes = 3;
  std::vector<uint64_t> seeds;
  for (uint64_t job = 0; job < kCandidates * kEpisodes; ++job) seeds.push_back(bp_seed(3, BP_PURPOSE_LEARNER, 0, job));
  for (const bool row_exact : {true, false})
    for (const bool whole : {false, true}) {
      g_switches.row_exact = row_exact, g_switches.whole = whole;
      ToyTrial trial(5, whole ? 1 : 2, whole ? 5 : 2);
      g_switches.row_exact = g_switches.whole = false;
      CandidateScorer scorer(*trial.env, *trial.learner, *trial.pool, whole ? 5 : 2, 7, trial.cancelled, [] {});
      scorer.Bind();
      bp_request request{.struct_size = sizeof request, .kind = BP_REQ_EVALUATE, .u = {}};
      request.u.evaluate = {kCandidates, kEpisodes, 0, 0, seeds.data()};
      for (int repeat = 0; repeat < 2; ++repeat) {
        const PhaseSpan span(trial.clocks[0], Phase::kSync);
        ASSERT_TRUE(scorer.Score(request, trial.clocks));
        for (const Episode& episode : scorer.episodes())
          EXPECT_EQ(episode.episode_return, ReturnOf(static_cast<double>(episode.length))) << row_exact << whole;
      }
    }
}

std::string FailureOf(void (*on_act)(const bp_act& act)) {
  ToyTrial trial(8, 1, 4);
  g_switches.on_act = on_act;
  std::string sentence;
  try {
    trial.Collect(5);
  } catch (const TrialFailure& failure) {
    sentence = failure.what();
  }
  g_switches.on_act = nullptr;
  return sentence;
}

TEST(Carry, ActMayOnlyWriteTheNextEntryOfItsRows) {
  const Carries carries;
  EXPECT_EQ(FailureOf([](const bp_act& act) { static_cast<int32_t*>(act.in[1]->data)[act.begin] += 1; }),
            "learner.toy: act of rows 0 to 3: expected channel 'count' unchanged there, got row 0 changed");
  EXPECT_EQ(
      FailureOf([](const bp_act& act) { static_cast<int32_t*>(act.out[2]->data)[act.end % 8] += 1; }),
      "learner.toy: act of rows 0 to 3: expected nothing written outside these rows of channel 'count', got row 4 changed");
  EXPECT_THAT(FailureOf([](const bp_act& act) { static_cast<int32_t*>(act.out[2]->data)[8] = 1; }),
              testing::StartsWith("learner.toy: "))
      << "behind the last row";
}

// 16 rows of 4 bytes fill the 64 bytes to which entries are aligned, so the entries that are read and written are adjacent.
TEST(Carry, EntriesWithoutAGapAreChecked) {
  const Carries carries;
  ToyTrial trial(16, 1, 16);
  ASSERT_TRUE(trial.Collect(5));
  ExpectCounts(*trial.collector);
  EXPECT_EQ(trial.collector->Buffer("count")->row(1, 0), trial.collector->Buffer("count")->row(0, 16));
}

// Checks of single calls end after some steps; guards around the memory remain.
TEST(Carry, AWriteBehindTheMemoryOfAnEvaluationIsFound) {
  const Carries carries;
  static int calls = 0;
  calls = 0;
  constexpr uint64_t kEpisodes = 1600;
  static const uint64_t rows = RowsForEpisodes(kEpisodes, 8);
  ToyTrial trial(rows, 1, 8);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 8, 7, trial.cancelled, [] {});
  evaluator.PlayEpisodes(kEpisodes);
  g_switches.on_act = [](const bp_act& act) {
    if (act.step > 30 && calls++ == 0) static_cast<int32_t*>(act.out[2]->data)[rows] = 1;
  };
  std::string sentence;
  try {
    evaluator.Play(Evaluator::Policy::kLearner, trial.clocks);
  } catch (const TrialFailure& failure) {
    sentence = failure.what();
  }
  g_switches.on_act = nullptr;
  EXPECT_GT(calls, 0);
  EXPECT_THAT(sentence, testing::StartsWith("learner.toy: "));
  EXPECT_THAT(sentence, testing::HasSubstr("'count'"));
}

// An env is not to blame for the learner's memory.
TEST(Carry, ANaNInTheMemoryIsNoObservation) {
  const Carries carries;
  twin::TwinTrial trial(twin::Form::kOrdinary, kCarryRows, 1, 3);
  ASSERT_TRUE(trial.Collect(10));
  trial.collector->Buffer("count")->at<float>(3, 5)[1] = NAN;
  EXPECT_FALSE(trial.collector->NonFiniteObservation());
  trial.collector->Buffer("obs")->at<float>(3, 5)[1] = NAN;
  EXPECT_TRUE(trial.collector->NonFiniteObservation());
}

TEST(Carry, IsRejectedWithAnEnvThatResetsItself) {
  const Carries carries;
  for (const twin::Form form : {twin::Form::kSelfResetting, twin::Form::kOnDevice}) {
    try {
      const twin::TwinTrial trial(form, 4, 1, 4);
      ADD_FAILURE() << "accepted";
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), BP_E_UNSUPPORTED);
      EXPECT_THAT(
          failure.what(),
          testing::MatchesRegex("learner.twin: keeps a memory of each episode \\('count', CARRY\\), but env.* starts episodes "
                                "itself \\(NATIVE_AUTORESET\\), so the host cannot clear the memory in time"));
    }
  }
}

}  // namespace
}  // namespace backplane::toy
