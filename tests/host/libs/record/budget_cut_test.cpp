// A trial of 5 iterations under smaller budgets. Each test writes the files of attempts, as the trial's process does.
#include "record/budget_cut.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class BudgetCutTest : public testing::Test {
 protected:
  BudgetCutTest() {
    std::filesystem::remove_all(folder_.out);
    record_.id = "t";
    record_.state = TrialState::kCompleted;
  }
  ~BudgetCutTest() override { std::filesystem::remove_all(folder_.out); }

  // Iteration i has 100 steps, 10 s, i episodes more, and the return i; iterations 2 and 4 are evaluated.
  void Attempt(uint64_t from, uint64_t to, std::optional<TrialState> state, bool resumed = false) {
    AttemptRecord attempt;
    attempt.number = static_cast<unsigned>(record_.attempts.size()) + 1;
    attempt.ended = 1;
    attempt.start.resumed = resumed;
    record_.attempts.push_back(attempt);
    const AttemptFolder place = folder_.attempt("t", attempt.number);
    std::filesystem::create_directories(place.folder);
    std::ofstream lines(place.metrics());
    for (uint64_t i = from; i <= to; ++i) {
      Iteration line;
      line.iteration = i, line.step = 100 * i, line.episodes = i;
      line.episode_return = {.mean = i, .sd = {}, .se = {}, .n = 1};
      line.metrics["data/epoch"] = 0.5 * static_cast<double>(i);
      line.time.t = 10.0 * static_cast<double>(i), line.time.iteration_s = 10;
      if (i % 2 == 0) line.eval = EpisodeMeans{Spread{.mean = 100.0 - i, .sd = {}, .se = {}, .n = 1}, {}};
      lines << ToJson(line).dump() << "\n";
    }
    TrialResult result;
    result.state = state, result.iterations = to, result.env_steps = 100 * to, result.episodes = to, result.trial_s = 10.0 * to;
    result.budget = Budget{.iterations = to};
    result.evaluation = EpisodeMeans{Spread{.mean = 1000.0 + to, .sd = {}, .se = {}, .n = 1}, {}};
    result.evaluated_at = to;
    result.best = BestScore{"eval/return", 1, 1000.0 + static_cast<double>(to), to, 100 * to};
    result.phases = {{"env_step", 5, 1}};
    result.data = DataResult{};
    result.data->epochs = 0.5 * static_cast<double>(to);
    if (state) std::ofstream(place.result()) << ToJson(result).dump();
  }

  WithinBudget Cut(const Budget& budget) const { return CutAtBudget(folder_, record_, budget); }
  Measurements Found(const WithinBudget& within) const {
    return ReadMeasurements(folder_.attempt("t", within.record.attempts.back().number), within.cut);
  }
  // The iterations of an attempt that count.
  std::vector<uint64_t> Left(const WithinBudget& within, unsigned attempt) const {
    std::vector<uint64_t> left;
    for (const IterationValue& one : ReadIterations(folder_.attempt("t", attempt), within.cut))
      if (one.name == "env_steps") left.push_back(one.iteration);
    return left;
  }

  const ResultsFolder folder_{std::filesystem::path(testing::TempDir()) / ("budget_cut_" + std::to_string(getpid()))};
  TrialRecord record_;
};

TEST_F(BudgetCutTest, KeepsTrialsWithinTheirBudget) {
  Attempt(1, 5, TrialState::kCompleted);
  for (const Budget& budget : {Budget{.iterations = 5}, Budget{.iterations = 9}, Budget{.env_steps = 450}, Budget{}})
    EXPECT_FALSE(Cut(budget).cut);
  EXPECT_FALSE(CutAtBudget(folder_, record_, std::nullopt).cut);
  record_.state = TrialState::kFailed;
  EXPECT_FALSE(Cut({.iterations = 3}).cut) << "it has no result";
}

TEST_F(BudgetCutTest, EndsWithTheIterationThatReachesALimit) {
  Attempt(1, 5, TrialState::kCompleted);
  EXPECT_EQ(Cut({.iterations = 3}).cut->iteration(), 3u);
  EXPECT_EQ(Cut({.env_steps = 201}).cut->iteration(), 3u);
  EXPECT_EQ(Cut({.episodes = 2}).cut->iteration(), 2u);
  EXPECT_EQ(Cut({.epochs = 1}).cut->iteration(), 2u);
  EXPECT_EQ(Cut({.wall_time_s = 35}).cut->iteration(), 4u);
  EXPECT_EQ(Cut({.iterations = 4, .env_steps = 150}).cut->iteration(), 2u) << "the first limit that is reached";
}

TEST_F(BudgetCutTest, TakesLastValuesFromTheLines) {
  Attempt(1, 5, TrialState::kCompleted);
  const WithinBudget within = Cut({.iterations = 3});
  const Measurements found = Found(within);
  EXPECT_EQ(found.result.iterations, 3u);
  EXPECT_EQ(found.result.env_steps, 300u);
  EXPECT_EQ(found.result.episodes, 3u);
  EXPECT_EQ(found.result.trial_s, 30);
  EXPECT_EQ(found.result.sps, 10) << "iterations 2 and 3";
  EXPECT_EQ(found.statistics.at("return").mean, 3);
  EXPECT_EQ(found.statistics.at("eval/return").mean, 98) << "the last evaluation, after iteration 2";
  EXPECT_EQ(found.result.evaluated_at, 2u);
  EXPECT_EQ(found.result.best->value, 98);
  EXPECT_EQ(found.result.best->iteration, 2u);
  EXPECT_THAT(found.time, IsEmpty());
  EXPECT_THAT(found.result.phases, IsEmpty());
  EXPECT_THAT(Left(within, 1), ElementsAre(1, 2, 3));
}

TEST_F(BudgetCutTest, HasNoEvaluationBeforeTheFirst) {
  Attempt(1, 5, TrialState::kCompleted);
  const Measurements found = Found(Cut({.iterations = 1}));
  EXPECT_FALSE(found.statistics.contains("eval/return"));
  EXPECT_FALSE(found.result.best);
  EXPECT_FALSE(found.result.sps) << "one iteration, which warms up";
}

TEST_F(BudgetCutTest, TakesTheResultOfAnAttemptThatEndedThere) {
  Attempt(1, 3, TrialState::kCompleted);
  Attempt(4, 5, TrialState::kCompleted, /*resumed=*/true);
  const WithinBudget within = Cut({.iterations = 3});
  ASSERT_TRUE(within.cut && within.cut->result_fits);
  EXPECT_EQ(within.record.attempts.size(), 1u);
  EXPECT_EQ(Found(within).statistics.at("eval/return").mean, 1003) << "the evaluation at its end";
  const WithinBudget four = Cut({.iterations = 4});
  EXPECT_EQ(four.record.attempts.size(), 2u);
  EXPECT_EQ(Found(four).statistics.at("eval/return").mean, 96);
  EXPECT_THAT(Left(four, 1), ElementsAre(1, 2, 3));
  EXPECT_THAT(Left(four, 2), ElementsAre(4));
}

// Otherwise one trial would have an evaluation at its end, and the other an earlier one.
TEST_F(BudgetCutTest, CutsAllTrialsOfAPlanAlike) {
  Attempt(1, 3, TrialState::kCompleted);
  PlanLine line;
  line.trial_id = "t";
  line.budget = Budget{.iterations = 3};
  BatchRecord batch;
  batch.trials["t"] = record_;
  EXPECT_EQ(HowToCut(folder_, {line}, batch), CutHow::kIfLonger);
  Attempt(4, 5, TrialState::kCompleted, /*resumed=*/true);
  batch.trials["t"] = record_;
  EXPECT_EQ(HowToCut(folder_, {line}, batch), CutHow::kIfLonger) << "its first attempt ended there";
  line.budget = Budget{.iterations = 4};
  EXPECT_EQ(HowToCut(folder_, {line}, batch), CutHow::kAlike);
  const WithinBudget whole = CutAtBudget(folder_, record_, Budget{.iterations = 5}, CutHow::kAlike);
  EXPECT_EQ(Found(whole).result.iterations, 5u);
  EXPECT_EQ(Found(whole).statistics.at("eval/return").mean, 96) << "after iteration 4, without that of the end";
}

// A killed attempt wrote lines that the next one repeats.
TEST_F(BudgetCutTest, IgnoresLinesThatALaterAttemptRepeats) {
  Attempt(1, 4, std::nullopt);
  Attempt(3, 5, TrialState::kCompleted, /*resumed=*/true);
  const WithinBudget within = Cut({.iterations = 3});
  EXPECT_EQ(within.cut->iteration(), 3u);
  EXPECT_EQ(within.record.attempts.size(), 2u);
  EXPECT_THAT(Left(within, 2), ElementsAre(3));
}

TEST_F(BudgetCutTest, IgnoresAttemptsBeforeARestart) {
  Attempt(1, 5, TrialState::kCompleted);
  Attempt(1, 5, TrialState::kCompleted);
  EXPECT_EQ(Cut({.iterations = 3}).record.attempts.size(), 2u);
}

}  // namespace
}  // namespace backplane
