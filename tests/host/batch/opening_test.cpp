// The trials that a session runs after earlier sessions, per option of the command.
#include "batch/opening.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "batch/recover.hpp"
#include "record/results_folder.hpp"
#include "record/trial_result.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kCompleted = 0, kFailed = 1, kRetry = 2, kNew = 3, kPruned = 4, kLost = 5, kAfterNew = 6, kTrials = 7;

class Opening : public testing::Test {
 protected:
  Opening() {
    for (size_t i = 0; i < kTrials; ++i) {
      plan_.points.emplace_back();
      PlannedTrial trial;
      trial.id = std::to_string(i);
      trial.point = i;
      plan_.trials.push_back(trial);
      names_.push_back("trial " + trial.id);
    }
    plan_.trials[kLost].after = kFailed;
    plan_.trials[kAfterNew].after = kNew;
    End(kCompleted, TrialState::kCompleted, Outcome::kOk);
    End(kFailed, TrialState::kFailed, Outcome::kPlugin);
    End(kRetry, TrialState::kFailed, Outcome::kTemp);
    End(kPruned, TrialState::kPruned, Outcome::kPruned);
  }

  void End(size_t trial, TrialState state, Outcome outcome) {
    TrialRecord& record = record_.trials[plan_.trials[trial].id];
    record.id = plan_.trials[trial].id;
    record.state = state;
    record.outcome = outcome;
    record.attempts.resize(1);
    record.attempts[0].ended = 1;
    record.attempts[0].end.outcome = outcome;
  }

  // Returns the trials that would run; `changes_` receives the new states.
  std::vector<size_t> Run(const RunOnly& only = {}, ChangedStates damaged = {}) {
    Schedule schedule(plan_);
    changes_ = OpenSchedule(plan_, record_, only, FailurePolicy({}), names_, std::move(damaged), &schedule);
    std::vector<size_t> run;
    for (size_t i = 0; i < kTrials; ++i)
      if (schedule.Waits(i)) run.push_back(i);
    return run;
  }
  std::vector<size_t> Changed() const {
    std::vector<size_t> trials;
    for (const auto& [trial, change] : changes_) trials.push_back(trial);
    return trials;
  }

  Plan plan_;
  BatchRecord record_;
  std::vector<std::string> names_;
  ChangedStates changes_;
};

TEST_F(Opening, RunsNewTrialsAndRetries) {
  EXPECT_THAT(Run(), ElementsAre(kRetry, kNew, kAfterNew));
  EXPECT_THAT(Changed(), ElementsAre(kRetry, kLost)) << "the second never starts: its first stage failed";
  EXPECT_EQ(changes_[1].second.why, "the stage before it, trial 1, is FAILED");
}

TEST_F(Opening, LeavesOtherTrials) {
  EXPECT_THAT(Run({.failed = std::set<std::string>{}}), ElementsAre(kFailed, kRetry));
  EXPECT_THAT(Run({.failed = std::set<std::string>{"plugin"}}), ElementsAre(kFailed));
  EXPECT_THAT(Changed(), IsEmpty()) << "a failed trial stays failed in the record until it starts";
  EXPECT_THAT(Run({.pruned = true}), ElementsAre(kPruned));
  EXPECT_THAT(Run({.damaged = true}), IsEmpty());
}

TEST_F(Opening, RunsDamagedTrialsAgain) {
  const ChangedStates damaged = {{kCompleted, {TrialState::kPlanned, "damaged: weights", StateReason::kDamaged}}};
  EXPECT_THAT(Run({}, damaged), ElementsAre(kCompleted, kRetry, kNew, kAfterNew));
  EXPECT_THAT(Changed(), ElementsAre(kCompleted, kRetry, kLost));
  EXPECT_THAT(Run({.damaged = true}, damaged), ElementsAre(kCompleted));
  EXPECT_THAT(Run({.pruned = true}, damaged), ElementsAre(kPruned));
}

TEST_F(Opening, RunsTrialsWhoseFirstStageRunsAgain) {
  TrialRecord& lost = record_.trials[plan_.trials[kLost].id];
  lost.id = plan_.trials[kLost].id;
  lost.Change({TrialState::kSkipped, "the stage before it, trial 1, is FAILED", StateReason::kLostStart});
  End(kFailed, TrialState::kCompleted, Outcome::kOk);
  EXPECT_THAT(Run(), ElementsAre(kRetry, kNew, kLost, kAfterNew));
  EXPECT_EQ(changes_[1].second.code, StateReason::kStartAgain) << "after the retry";
}

// The completed trial ran for 2 iterations in a real folder.
class Extending : public Opening {
 protected:
  Extending() {
    std::filesystem::remove_all(out_);
    Ran(2, {.iterations = 2});
    plan_.points[kCompleted].budget = Budget{.iterations = 5};
  }
  ~Extending() override { std::filesystem::remove_all(out_); }

  void Ran(uint64_t iterations, const Budget& budget) {
    TrialResult result;
    result.state = TrialState::kCompleted;
    result.iterations = iterations;
    result.budget = budget;
    const AttemptFolder attempt = ResultsFolder{out_}.attempt(plan_.trials[kCompleted].id, 1);
    std::filesystem::create_directories(attempt.folder);
    std::ofstream(attempt.result()) << ToJson(result).dump();
    record_.trials[plan_.trials[kCompleted].id].attempts[0].number = 1;
  }
  // The reason for each change.
  std::vector<std::optional<StateReason>> Follow(ChangedStates changes = {}) {
    said_ = FollowBudgets(out_, plan_, record_, &changes);
    std::vector<std::optional<StateReason>> reasons;
    for (const auto& [trial, change] : changes) reasons.push_back(change.code);
    followed_ = std::move(changes);
    return reasons;
  }

  const std::filesystem::path out_ = std::filesystem::path(testing::TempDir()) / ("extending_" + std::to_string(getpid()));
  ChangedStates followed_;
  std::string said_;
};

TEST_F(Extending, ResumesAFinishedTrialUnderALargerBudget) {
  EXPECT_THAT(Follow(), ElementsAre(StateReason::kExtended));
  EXPECT_EQ(said_, "the budget has grown: 1 finished trial is resumed, 1 of them from scratch, without a checkpoint");
  EXPECT_THAT(Run({}, followed_), ElementsAre(kCompleted, kRetry, kNew, kAfterNew));
}

TEST_F(Extending, LeavesTrialsThatReachedIt) {
  for (const uint64_t iterations : {1, 2}) {
    plan_.points[kCompleted].budget = Budget{.iterations = iterations};
    EXPECT_THAT(Follow(), IsEmpty()) << iterations;
  }
  plan_.points[kCompleted].budget.reset();
  EXPECT_THAT(Follow(), IsEmpty()) << "its budget belongs to its identity";
}

TEST_F(Extending, LeavesTrialsThatSomethingElseEnded) {
  Ran(2, {.iterations = 3});  // a monitor, for example
  EXPECT_THAT(Follow(), IsEmpty());
}

TEST_F(Extending, CompletesATrialAgainThatDidNotResumeBeforeTheBudgetShrank) {
  ASSERT_THAT(Follow(), ElementsAre(StateReason::kExtended));
  record_.trials[plan_.trials[kCompleted].id].Change(followed_[0].second);
  EXPECT_THAT(Follow(), IsEmpty()) << "it still waits";
  EXPECT_FALSE(MeantByOnlyDamaged(record_.trials[plan_.trials[kCompleted].id]));
  plan_.points[kCompleted].budget = Budget{.iterations = 2};
  EXPECT_THAT(Follow(), ElementsAre(StateReason::kWithin));
  EXPECT_EQ(followed_[0].second.state, TrialState::kCompleted);
}

TEST_F(Extending, LeavesDamagedTrialsDamaged) {
  const ChangedStates damaged = {{kCompleted, {TrialState::kPlanned, "damaged: weights", StateReason::kDamaged}}};
  EXPECT_THAT(Follow(damaged), ElementsAre(StateReason::kDamaged));
}

}  // namespace
}  // namespace backplane
