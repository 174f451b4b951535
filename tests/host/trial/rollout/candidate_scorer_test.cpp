#include "rollout/candidate_scorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr uint64_t kCandidates = 23, kEpisodes = 3, kJobs = kCandidates * kEpisodes;

struct Setting {
  uint64_t rows = 8;
  unsigned threads = 1;
  uint64_t chunk = 0, max_steps = 0, chunk_rows = 4;
  bool row_exact = true, whole = false;
};

// A trial whose learner requests kEpisodes episodes of kCandidates candidates.
struct Scored {
  explicit Scored(const Setting& setting)
      : trial((g_switches.rows_alike = true, g_switches.row_exact = setting.row_exact, g_switches.whole = setting.whole,
               setting.rows),
              setting.threads, setting.chunk_rows),
        scorer(*trial.env, *trial.learner, *trial.pool, setting.chunk_rows, 7, trial.cancelled, [this] { ++beats; }) {
    g_switches.rows_alike = g_switches.row_exact = g_switches.whole = false;
    for (uint64_t job = 0; job < kJobs; ++job) seeds.push_back(bp_seed(3, BP_PURPOSE_LEARNER, 0, job));
    request.struct_size = sizeof request;
    request.kind = BP_REQ_EVALUATE;
    request.u.evaluate = {kCandidates, kEpisodes, setting.chunk, setting.max_steps, seeds.data()};
    scorer.Bind();
  }
  bool Score() {
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    return scorer.Score(request, trial.clocks);
  }
  const bp_tensor* Find(const std::string& name) {
    delivery = scorer.Delivery();
    for (uint64_t i = 0; i < delivery.n_tensors; ++i)
      if (name == delivery.names[i]) return delivery.tensors[i];
    return nullptr;
  }
  double fitness(uint64_t job) { return static_cast<const double*>(Find("fitness")->data)[job]; }
  int64_t length(uint64_t job) { return static_cast<const int64_t*>(Find("ep_length")->data)[job]; }
  // Everything that a learner receives, as one string of bytes.
  std::string Bytes() {
    std::string out;
    for (const char* name : {"fitness", "ep_length", "obs_count", "obs_mean", "obs_m2"}) {
      const bp_tensor* t = Find(name);
      uint64_t n = 8;
      for (int i = 0; i < t->ndim; ++i) n *= static_cast<uint64_t>(t->shape[i]);
      out.append(static_cast<const char*>(t->data), n);
    }
    return out;
  }

  std::atomic<int> beats{0};
  ToyTrial trial;
  CandidateScorer scorer;
  std::vector<uint64_t> seeds;
  bp_request request{};
  bp_delivery delivery{};
};

// Plays one job on its own row, with calls of the env only.
struct Plain {
  double fitness = 0;
  std::vector<std::vector<double>> acted_on;
};
Plain PlayPlainly(uint64_t candidate, uint64_t seed, int64_t limit = kTimeLimit) {
  g_switches.rows_alike = true;
  ToyTrial trial(1, 1);
  g_switches.rows_alike = false;
  SlotBuffers slot(*trial.env, *trial.learner, [](const bp_channel&) { return false; });
  slot.Bind();
  Plain out;
  EXPECT_EQ(trial.env->Reset(0, 0, 1, nullptr, &seed), BP_OK);
  const float* obs = slot["obs"].at<float>(0, 0);
  for (bool ended = false; !ended;) {
    out.acted_on.push_back({obs[0], obs[1], obs[2]});
    *slot["action"].at<float>(0, 0) = 0.5f * static_cast<float>(candidate + 1) * obs[2];
    EXPECT_EQ(trial.env->Step(0, 0, 1), BP_OK);
    out.fitness += *slot["reward"].at<float>(0, 0);
    ended = *slot["terminated"].at<uint8_t>(0, 0) || static_cast<int64_t>(out.acted_on.size()) >= limit;
  }
  return out;
}

TEST(CandidateScorer, PlaysEveryJobFromItsSeedToItsEnd) {
  Scored scored({.rows = 8, .threads = 2});
  ASSERT_TRUE(scored.Score());
  ASSERT_EQ(scored.Find("fitness")->shape[0], static_cast<int64_t>(kCandidates));
  ASSERT_EQ(scored.Find("ep_length")->shape[1], static_cast<int64_t>(kEpisodes));
  uint64_t steps = 0, cut = 0;
  for (uint64_t job = 0; job < kJobs; ++job) {
    const Plain plain = PlayPlainly(job / kEpisodes, scored.seeds[job]);
    EXPECT_EQ(scored.fitness(job), plain.fitness) << job;
    EXPECT_EQ(scored.length(job), static_cast<int64_t>(plain.acted_on.size())) << job;
    steps += plain.acted_on.size();
    cut += plain.acted_on.size() == kTimeLimit;
  }
  EXPECT_EQ(scored.scorer.env_steps(), steps);
  EXPECT_GT(cut, 0u) << "some were cut at the env's limit, most were not";
  EXPECT_LT(cut, kJobs / 2);
  EXPECT_EQ(scored.delivery.kind, static_cast<uint32_t>(BP_REQ_EVALUATE));
  EXPECT_GT(scored.beats, 0);
}

TEST(CandidateScorer, MomentsCoverAllStatesActedOn) {
  Scored scored({.rows = 8, .threads = 2});
  ASSERT_TRUE(scored.Score());
  std::vector<std::vector<double>> all;
  for (uint64_t job = 0; job < kJobs; ++job)
    for (auto& obs : PlayPlainly(job / kEpisodes, scored.seeds[job]).acted_on) all.push_back(obs);
  const double n = static_cast<double>(all.size());
  EXPECT_EQ(*static_cast<double*>(scored.Find("obs_count")->data), n);
  for (size_t i = 0; i < 3; ++i) {
    double mean = 0, squares = 0;
    for (const auto& obs : all) mean += obs[i] / n;
    for (const auto& obs : all) squares += std::pow(obs[i] - mean, 2);
    EXPECT_NEAR(static_cast<double*>(scored.Find("obs_mean")->data)[i], mean, 1e-12);
    EXPECT_NEAR(static_cast<double*>(scored.Find("obs_m2")->data)[i], squares, 1e-9);
  }
}

TEST(CandidateScorer, GivesTheSameBytesForAnyThreadsRowsAndCandidatesInFlight) {
  Scored one({.rows = 1});
  ASSERT_TRUE(one.Score());
  const std::string wanted = one.Bytes();
  for (unsigned threads : {1u, 2u, 3u})
    for (uint64_t rows : {1, 4, 64})
      for (uint64_t chunk : {0, 1, 7}) {
        Scored scored({.rows = rows, .threads = threads, .chunk = chunk});
        for (int again = 0; again < 3; ++again) {
          ASSERT_TRUE(scored.Score());
          EXPECT_EQ(scored.Bytes(), wanted) << threads << " threads, " << rows << " rows, chunk " << chunk;
        }
      }
}

// Three scorers in one process: two play some of the jobs in any order, the third plays none itself.
TEST(CandidateScorer, JobsPlayedElsewhereGiveTheSameBytes) {
  Scored whole({.rows = 4, .threads = 2});
  ASSERT_TRUE(whole.Score());
  struct Others : PlayElsewhere {
    Scored first{{.rows = 3, .threads = 2}}, second{{.rows = 8, .threads = 1}};
    bool Play(const bp_request& request, JobQueue* queue, CandidateScores* scores, std::vector<PhaseClock>&) override {
      std::vector<uint64_t> jobs[2];
      while (const std::optional<uint64_t> job = queue->Take()) jobs[*job % 3 == 0].push_back(*job);
      std::reverse(jobs[1].begin(), jobs[1].end());
      std::mutex mutex;
      for (Scored* other : {&first, &second}) {
        other->scorer.StartGiven(request, 2, [&](uint64_t job, const JobScore& score) {
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(scores->Set(job, score));
          queue->Finish(job);
        });
        std::thread gives([&, other] {
          for (const uint64_t job : jobs[other == &first]) EXPECT_TRUE(other->scorer.Give({job}));
          other->scorer.CloseJobs();
        });
        const PhaseSpan span(other->trial.clocks[0], Phase::kSync);
        other->scorer.PlayGiven(other->trial.clocks);
        gives.join();
      }
      return true;
    }
    PoolUse use() const override { return {0.25, 0.5}; }
  } others;
  Scored scored({.rows = 2});
  {
    const PhaseSpan span(scored.trial.clocks[0], Phase::kSync);
    ASSERT_TRUE(scored.scorer.Score(scored.request, scored.trial.clocks, &others));
  }
  EXPECT_EQ(scored.Bytes(), whole.Bytes());
  EXPECT_EQ(scored.scorer.use().balance, 0.25);
  ASSERT_EQ(scored.scorer.episodes().size(), kJobs);
  for (uint64_t job = 0; job < kJobs; ++job)
    EXPECT_EQ(scored.scorer.episodes()[job].info[0], whole.scorer.episodes()[job].info[0]) << job;
}

TEST(CandidateScorer, PlaysJobsThatReturnUnplayed) {
  Scored whole({.rows = 4, .threads = 2});
  ASSERT_TRUE(whole.Score());
  struct Nobody : PlayElsewhere {
    bool Play(const bp_request&, JobQueue* queue, CandidateScores*, std::vector<PhaseClock>&) override {
      queue->StartEmpty(kCandidates, kEpisodes);
      for (uint64_t job = 0; job < kJobs; ++job) queue->Give(job);
      queue->Close();
      return true;
    }
    PoolUse use() const override { return {}; }
  } nobody;
  Scored scored({.rows = 3, .threads = 2});
  const PhaseSpan span(scored.trial.clocks[0], Phase::kSync);
  ASSERT_TRUE(scored.scorer.Score(scored.request, scored.trial.clocks, &nobody));
  EXPECT_EQ(scored.Bytes(), whole.Bytes());
}

TEST(CandidateScorer, MaxStepsCutsBelowTheEnvsLimit) {
  for (const bool row_exact : {true, false}) {
    Scored shorter({.max_steps = 5, .row_exact = row_exact}), longer({.max_steps = 1000, .row_exact = row_exact});
    ASSERT_TRUE(shorter.Score() && longer.Score());
    for (uint64_t job = 0; job < kJobs; ++job) {
      const auto full = static_cast<int64_t>(PlayPlainly(0, shorter.seeds[job]).acted_on.size());
      EXPECT_EQ(shorter.length(job), std::min<int64_t>(full, 5));
      EXPECT_EQ(longer.length(job), full);
    }
  }
}

TEST(CandidateScorer, EndsAtTheEnvsOwnTimeLimitOrBefore) {
  for (const uint64_t max_steps : {0, 2, 1000}) {
    g_switches.owns_time_limit = true;
    Scored scored({.rows = 4, .threads = 2, .max_steps = max_steps});
    g_switches.owns_time_limit = false;
    ASSERT_TRUE(scored.Score());
    int64_t longest = 0;
    for (uint64_t job = 0; job < kJobs; ++job) longest = std::max(longest, scored.length(job));
    EXPECT_EQ(longest, max_steps == 2 ? 2 : OwnLimit(1)) << max_steps;
  }
}

// This env fails in calls of some rows, and in a step past an end.
TEST(CandidateScorer, EnvThatStepsAllRowsTogetherGivesTheSameBytes) {
  for (const bool owns_limit : {false, true})
    for (const uint64_t max_steps : {0, 2, 5}) {
      const auto scored = [&](uint64_t rows, uint64_t chunk, bool whole) {
        g_switches.owns_time_limit = owns_limit;
        const Setting setting{.rows = rows, .chunk = chunk, .max_steps = max_steps, .chunk_rows = rows, .whole = whole};
        Scored scored(setting);
        g_switches.owns_time_limit = false;
        EXPECT_TRUE(scored.Score() && scored.Score());
        return scored.Bytes() + std::to_string(scored.scorer.env_steps());
      };
      // An env with its own limit cuts odd rows one step later, so equal rows are needed.
      const uint64_t rows_of_first = owns_limit ? 1 : 8;
      const std::string wanted = scored(rows_of_first, 0, false);
      for (const uint64_t rows : owns_limit ? std::vector<uint64_t>{1} : std::vector<uint64_t>{1, 4, 128})
        for (const uint64_t chunk : {0, 1, 7})
          EXPECT_EQ(scored(rows, chunk, true), wanted) << rows << " rows, chunk " << chunk << ", max_steps " << max_steps;
    }
}

TEST(CandidateScorer, OthersActOnTheWholeOfAnEnvThatStepsAllRowsTogether) {
  Scored waves({.rows = 8, .chunk_rows = 8, .row_exact = false});
  Scored whole({.rows = 8, .chunk_rows = 8, .row_exact = false, .whole = true});
  ASSERT_TRUE(waves.Score() && whole.Score());
  EXPECT_EQ(whole.Bytes(), waves.Bytes());
}

TEST(CandidateScorer, FindsTheSourceOfANonFiniteRewardInAnEnvThatStepsAllRowsTogether) {
  const auto failure = [](bool whole) {
    Scored scored({.rows = 8, .chunk_rows = 8, .whole = whole});
    g_switches.nan_from = 3;
    std::string text;
    try {
      scored.Score();
    } catch (const TrialFailure& e) {
      text = e.what();
    }
    g_switches.nan_from.reset();
    return text;
  };
  EXPECT_THAT(failure(true), testing::HasSubstr("is not finite at step 3 of its episode"));
  EXPECT_EQ(failure(true), failure(false));
}

// Calls of act, recorded for one thread.
struct SeenActs {
  size_t calls = 0, most_in_flight = 0, idle = 0;
  std::set<std::pair<uint64_t, uint64_t>> ranges;
} g_acts;

void LookAtAct(const bp_act& act) {
  ++g_acts.calls;
  g_acts.ranges.insert({act.begin, act.end});
  std::set<int32_t> in_flight;
  for (uint64_t row = 0; row < 8; ++row)
    if (act.candidate[row] >= 0) in_flight.insert(act.candidate[row]);
  g_acts.most_in_flight = std::max(g_acts.most_in_flight, in_flight.size());
  for (uint64_t row = act.begin; row < act.end; ++row) g_acts.idle += act.candidate[row] < 0;
  EXPECT_EQ(act.flags, static_cast<uint32_t>(BP_ACT_GREEDY));
}

SeenActs ActsOf(const Setting& setting) {
  Scored scored(setting);
  g_acts = {};
  g_switches.on_act = LookAtAct;
  EXPECT_TRUE(scored.Score());
  g_switches.on_act = nullptr;
  return g_acts;
}

TEST(CandidateScorer, KeepsToTheCandidatesThatMayBeInFlight) {
  for (const bool row_exact : {true, false}) {
    EXPECT_EQ(ActsOf({.chunk = 1, .chunk_rows = 8, .row_exact = row_exact}).most_in_flight, 1u);
    EXPECT_EQ(ActsOf({.chunk = 2, .chunk_rows = 8, .row_exact = row_exact}).most_in_flight, 2u);
    EXPECT_GE(ActsOf({.chunk = 0, .chunk_rows = 8, .row_exact = row_exact}).most_in_flight, 3u) << "8 rows, 3 episodes each";
  }
}

TEST(CandidateScorer, ARowExactLearnerNeverActsForARowWithoutAJob) {
  const SeenActs acts = ActsOf({.chunk_rows = 8});
  EXPECT_EQ(acts.idle, 0u);
  EXPECT_GT(acts.ranges.size(), 3u) << "ranges follow the active rows";
}

std::atomic<uint64_t> g_largest_call{0};
void NoteLargestCall(const bp_act& act) {
  const uint64_t rows = act.end - act.begin;
  for (uint64_t before = g_largest_call; rows > before && !g_largest_call.compare_exchange_weak(before, rows);) continue;
  std::this_thread::yield();  // lets threads meet even on few cores
}

// With few candidates in flight, threads run out of jobs repeatedly: they borrow rows, then find jobs for their own.
TEST(CandidateScorer, CallsHaveAtMostAChunkOfRowsEvenIfShared) {
  Scored one({.rows = 1});
  ASSERT_TRUE(one.Score());
  const std::string wanted = one.Bytes();
  g_largest_call = 0;
  for (uint64_t chunk : {2, 3, 4, 8}) {
    Scored scored({.rows = 12, .threads = 3, .chunk = chunk});
    g_switches.on_act = NoteLargestCall;
    for (int again = 0; again < 20; ++again) {
      ASSERT_TRUE(scored.Score());
      EXPECT_EQ(scored.Bytes(), wanted) << "chunk " << chunk;
    }
    g_switches.on_act = nullptr;
  }
  EXPECT_EQ(g_largest_call, 4u);
}

TEST(CandidateScorer, AChunkWithoutALimitIsAllCandidates) {
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  for (const bool row_exact : {true, false}) {
    Scored all({.row_exact = row_exact}), unlimited({.chunk = kNoLimit, .row_exact = row_exact});
    ASSERT_TRUE(all.Score() && unlimited.Score());
    EXPECT_EQ(unlimited.Bytes(), all.Bytes());
  }
}

TEST(CandidateScorer, OthersActOnWholeChunksAlways) {
  const SeenActs acts = ActsOf({.row_exact = false});
  EXPECT_THAT(acts.ranges, testing::ElementsAre(std::pair(0, 4), std::pair(4, 8)));
  EXPECT_GT(acts.idle, 0u) << "rows without a job act until their chunk ends";
}

TEST(CandidateScorer, OthersGetTheSameBytesForAnyThreads) {
  const auto bytes = [](unsigned threads, uint64_t rows) {
    Scored scored({.rows = rows, .threads = threads, .chunk = 7, .row_exact = false});
    EXPECT_TRUE(scored.Score());
    return scored.Bytes();
  };
  const std::string wanted = bytes(1, 10);
  EXPECT_EQ(bytes(2, 10), wanted);
  EXPECT_EQ(bytes(3, 10), wanted);
  EXPECT_NE(bytes(1, 9), wanted) << "the last chunk is one row shorter, and this learner's actions show it";
}

TEST(CandidateScorer, ListsEpisodesByJob) {
  Scored scored({.rows = 5, .threads = 2});
  ASSERT_TRUE(scored.Score());
  EXPECT_THAT(scored.scorer.info_names(), testing::ElementsAre("ep/steps"));
  ASSERT_EQ(scored.scorer.episodes().size(), kJobs);
  for (uint64_t job = 0; job < kJobs; ++job) {
    const Episode& episode = scored.scorer.episodes()[job];
    EXPECT_EQ(episode.row, job / kEpisodes);
    EXPECT_EQ(episode.episode_return, scored.fitness(job));
    EXPECT_EQ(episode.info[0], static_cast<double>(scored.length(job)));
  }
}

TEST(CandidateScorer, AcceptsSmallerAndLargerRequestsLater) {
  Scored scored({.rows = 4, .threads = 2}), fresh({.rows = 4, .threads = 2});
  scored.request.u.evaluate.candidates = 2;
  ASSERT_TRUE(scored.Score());
  EXPECT_EQ(scored.Find("fitness")->shape[0], 2);
  scored.request.u.evaluate.candidates = kCandidates;
  ASSERT_TRUE(scored.Score() && fresh.Score());
  EXPECT_EQ(scored.Bytes(), fresh.Bytes());
}

std::atomic<bool>* g_cancel = nullptr;
std::atomic<int> g_steps_to_go{0};
void CancelLater() {
  if (--g_steps_to_go == 0) *g_cancel = true;
}

TEST(CandidateScorer, StopsWhenCancelledAndCanScoreAfterwards) {
  for (const bool row_exact : {true, false}) {
    Scored scored({.rows = 8, .threads = 3, .row_exact = row_exact}), whole({.rows = 8, .threads = 3, .row_exact = row_exact});
    g_cancel = &scored.trial.cancelled;
    g_steps_to_go = 40;
    g_switches.on_step = CancelLater;
    EXPECT_FALSE(scored.Score());
    g_switches.on_step = nullptr;
    scored.trial.cancelled = false;
    ASSERT_TRUE(scored.Score() && whole.Score());
    EXPECT_EQ(scored.Bytes(), whole.Bytes());
  }
}

std::string FailureOf(Scored& scored) {
  try {
    scored.Score();
  } catch (const TrialFailure& failure) {
    return std::to_string(failure.status()) + " " + failure.what();
  }
  return "";
}

TEST(CandidateScorer, FailureOfOneThreadEndsThreadsThatWaitForItsRows) {
  for (const bool row_exact : {true, false}) {
    Scored scored({.rows = 1, .threads = 3, .row_exact = row_exact});
    g_switches.fail_step = 0;
    EXPECT_THAT(FailureOf(scored), testing::HasSubstr("the toy broke"));
    g_switches.fail_step = -1;
  }
}

TEST(CandidateScorer, ARewardThatIsNotFiniteNamesItsCandidate) {
  Scored scored({.rows = 1});
  g_switches.nan_row = 0;
  EXPECT_EQ(FailureOf(scored), std::to_string(BP_E_NUMERIC) +
                                   " env.toy: the reward of candidate 0 is not a finite number at step 1 of its episode 0");
  g_switches.nan_row = -1;
}

TEST(CandidateScorer, AnObservationThatWasNotFiniteBeforeIsNamedAsTheSource) {
  Scored scored({.rows = 1});
  uint64_t job = 0;  // the first that lasts long enough
  while (PlayPlainly(0, scored.seeds[job]).acted_on.size() < 4) ++job;
  g_switches.nan_from = 3;
  EXPECT_EQ(FailureOf(scored),
            std::to_string(BP_E_NUMERIC) + " env.toy: observation obs[2] of candidate " + std::to_string(job / kEpisodes) +
                " is not finite at step 3 of its episode " + std::to_string(job % kEpisodes) +
                "; then: learner.toy acts: action[0] of row 0: expected a finite number, got nan "
                "by candidate " +
                std::to_string(job / kEpisodes) + " at step 4 of its episode " + std::to_string(job % kEpisodes));
  g_switches.nan_from.reset();
}

TEST(CandidateScorer, AnObservationThatHarmedNoRewardIsFoundInTheMoments) {
  Scored scored({.rows = 4, .threads = 2});
  ASSERT_TRUE(scored.Score());
  EXPECT_EQ(scored.scorer.NonFiniteObservation(), std::nullopt);
  uint64_t job = 0;  // the first that acts on a second state
  while (scored.length(job) < 2) ++job;
  g_switches.nan_steps = true;
  ASSERT_TRUE(scored.Score());
  g_switches.nan_steps = false;
  EXPECT_EQ(scored.scorer.NonFiniteObservation(), "observation obs[1] of candidate " + std::to_string(job / kEpisodes) +
                                                      " was not finite in its episode " + std::to_string(job % kEpisodes));
}

std::string RefusalOf(Scored& scored) {
  try {
    CandidateScorer::Check(scored.request, *scored.trial.env, *scored.trial.learner);
  } catch (const TrialFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST(CandidateScorer, RejectsInvalidRequests) {
  const std::string asks = "learner.toy: asks for an evaluation of candidates: ";
  Scored scored({});
  EXPECT_EQ(RefusalOf(scored), "");
  scored.request.u.evaluate.candidates = 0;
  EXPECT_EQ(RefusalOf(scored), asks + "expected 1 to 2147483647 candidates, got 0");
  scored.request.u.evaluate = {1, 0, 0, 0, scored.seeds.data()};
  EXPECT_EQ(RefusalOf(scored), asks + "expected 1 to 2147483647 episodes each, got 0");
  scored.request.u.evaluate = {1, 1, 0, 0, nullptr};
  EXPECT_EQ(RefusalOf(scored), asks + "expected a seed for each episode, got seeds = NULL");
}

TEST(CandidateScorer, RejectsAnInvalidFlag) {
  g_switches.owns_time_limit = true;
  g_switches.cut_flag = 2;
  {
    Scored scored({.rows = 1});
    EXPECT_THAT(FailureOf(scored),
                testing::HasSubstr("env.toy: step: channel 'truncated' of row 0: expected 0 or 1, got 2 with "
                                   "candidate "));
  }
  g_switches.cut_flag = 1;
  g_switches.owns_time_limit = false;
}

TEST(CandidateScorer, TruncatesEpisodesWithoutEndAtTheCap) {
  const Endless endless;
  for (const bool row_exact : {false, true}) {
    for (const uint64_t max_steps : {0, 7, 1000}) {
      Scored scored({.rows = 4, .threads = 2, .max_steps = max_steps, .row_exact = row_exact});
      scored.scorer.CapEpisodes(30);
      ASSERT_TRUE(scored.Score());
      for (uint64_t job = 0; job < kJobs; ++job) EXPECT_EQ(scored.length(job), max_steps == 7 ? 7 : 30);
      EXPECT_EQ(scored.scorer.capped(), max_steps == 7 ? 0 : kJobs) << "the learner's own limit is no cap";
    }
  }
}

TEST(CandidateScorer, CapsNoEpisodeOfAnEnvWhoseLimitTheHostCounts) {
  Scored capped({.rows = 8}), plain({.rows = 8});
  capped.scorer.CapEpisodes(2);
  ASSERT_TRUE(capped.Score() && plain.Score());
  EXPECT_EQ(capped.Bytes(), plain.Bytes());
  EXPECT_EQ(capped.scorer.capped(), 0u);
}

TEST(CandidateScorer, EndsAtTheDeadlineWithoutScores) {
  const Endless endless;
  for (const bool row_exact : {false, true}) {
    Scored scored({.rows = 4, .threads = 2, .row_exact = row_exact});
    scored.scorer.EndBy(NowNs() + 20'000'000);
    EXPECT_FALSE(scored.Score());
  }
}

}  // namespace
}  // namespace backplane::toy
