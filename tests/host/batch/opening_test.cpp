// The trials that a session runs after earlier sessions, per option of the command.
#include "batch/opening.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace backplane
