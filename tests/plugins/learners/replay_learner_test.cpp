// A learner with a replay buffer through its function table: the schedule of random actions and gradient steps, saved states.
// Built with each such learner, whose name is the suite.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;
using testing::HasSubstr;
using testing::IsEmpty;

using Settings = std::map<std::string, std::string>;

// DQN is greedy after the random actions.
Settings With(Settings more) {
  more.insert({{"hidden", "[8]"}, {"batch_size", "8"}, {"learning_starts", "20"}, {"horizon", "15"}, {"train_freq", "1"}});
  if (ReplayTrial::Discrete()) more.insert({{"epsilon_steps", "0"}, {"epsilon_final", "0"}});
  return more;
}

// An update of the target networks, or of the actor, does not end each iteration.
Settings WithRareTargets(Settings more) {
  const std::string learner = ReplayTrial::Learner();
  more.insert(learner == "learner.td3" ? std::pair{"policy_delay", "7"} : std::pair{"target_update_interval", "7"});
  if (ReplayTrial::Discrete()) more.insert({{"epsilon_steps", "200"}, {"tau", "0.5"}});
  return With(std::move(more));
}

// Gradient steps of each iteration so far.
std::vector<double> Updates(ReplayTrial& trial) { return trial.host().metrics["train/updates"]; }

TEST(BACKPLANE_LEARNER, LearnsAfterEachPartOnceEnoughStepsAreStored) {
  ReplayTrial trial(With({{"train_freq", "3"}, {"gradient_steps", "2"}}));
  const bp_request request = trial.Plan();
  EXPECT_EQ(request.u.rollout.horizon, 15u);
  EXPECT_EQ(request.u.rollout.part, 3u);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  // 2 rows: parts end at steps 6, 12, 18, 24 and 30 of an iteration.
  EXPECT_EQ(Updates(trial), (std::vector<double>{4, 10, 10}));
  EXPECT_THAT(trial.host().files.faults, IsEmpty());
}

TEST(BACKPLANE_LEARNER, RoundsTheHorizonUpToWholeParts) {
  ReplayTrial trial(With({{"train_freq", "4"}}));
  EXPECT_EQ(trial.Plan().u.rollout.horizon, 16u);
}

// The schedule counts frames of the trial, not parts: an iteration that a budget cuts short shifts nothing.
TEST(BACKPLANE_LEARNER, CountsFramesNotParts) {
  ReplayTrial trial(With({{"train_freq", "5"}, {"learning_starts", "0"}}));
  ASSERT_EQ(trial.Iterate(7), BP_OK) << trial.error();
  ASSERT_EQ(trial.Iterate(7), BP_OK) << trial.error();
  ASSERT_EQ(trial.Iterate(7), BP_OK) << trial.error();
  EXPECT_EQ(Updates(trial), (std::vector<double>{1, 1, 2})) << "after frames 5, 10, 15 and 20";
}

TEST(BACKPLANE_LEARNER, MakesNoUpdateBeforeAWindowIsComplete) {
  ReplayTrial trial(With({{"n_step", "20"}, {"learning_starts", "0"}}));
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  EXPECT_EQ(Updates(trial), (std::vector<double>{0}));
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  EXPECT_EQ(Updates(trial), (std::vector<double>{0, 11})) << "from frame 20 on";
}

// Mean square of the actions of frames [begin, end).
double Spread(const ReplayTrial& trial, int64_t begin, int64_t end) {
  double sum = 0;
  const int64_t width = trial.rows() * trial.width();
  for (int64_t i = begin * width; i < end * width; ++i) sum += std::pow(trial.stored().action[static_cast<size_t>(i)], 2);
  return sum / static_cast<double>((end - begin) * width);
}

TEST(BACKPLANE_LEARNER, ActsRandomlyOnlyInTheFirstSteps) {
  ReplayTrial trial(With({{"learning_starts", "400"}, {"horizon", "200"}}));
  ReplayTrial other(With({{"learning_starts", "400"}, {"horizon", "200"}, {"hidden", "[5]"}}));
  for (ReplayTrial* each : {&trial, &other}) {
    ASSERT_EQ(each->Iterate(), BP_OK) << each->error();
    ASSERT_EQ(each->Iterate(20), BP_OK) << each->error();
  }
  const int64_t warm = 200 * 2 * trial.width();
  const auto actions = [](const ReplayTrial& t) -> const std::vector<float>& { return t.stored().action; };
  EXPECT_TRUE(std::equal(actions(trial).begin(), actions(trial).begin() + warm, actions(other).begin()))
      << "random actions do not depend on the net";
  EXPECT_FALSE(std::equal(actions(trial).begin() + warm, actions(trial).end(), actions(other).begin() + warm));
  // Uniform in [-1, 1], or of 0, 1 and 2.
  EXPECT_NEAR(Spread(trial, 0, 200), trial.Discrete() ? 5. / 3 : 1. / 3, trial.Discrete() ? .15 : .03);
}

// Not even in the first steps, whose actions are random.
TEST(BACKPLANE_LEARNER, GreedyActionsHaveNoNoise) {
  ReplayTrial trial(With({{"learning_starts", "100"}}), 16);
  const std::vector<float> actions = trial.Greedy(1, 0);
  EXPECT_EQ(trial.Greedy(2, 5), actions);
  ASSERT_EQ(trial.Iterate(), BP_OK);
  EXPECT_NE(trial.Greedy(1, 0), actions) << "other observations";
}

TEST(BACKPLANE_LEARNER, AResumeDoesNotActRandomlyAgain) {
  const Settings settings = With({{"learning_starts", "30"}});
  ReplayTrial whole(settings), part(settings);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(whole.Iterate(), BP_OK) << whole.error();
  ASSERT_EQ(part.Iterate(), BP_OK);
  for (int i = 0; i < 2; ++i) {
    const std::string saved = part.Saved();
    part.Again();
    ASSERT_EQ(part.Load(saved), BP_OK) << part.error();
    EXPECT_EQ(part.Saved(), saved) << "save, load, save";
    ASSERT_EQ(part.Iterate(), BP_OK) << part.error();
  }
  EXPECT_EQ(part.stored().action, whole.stored().action);
  EXPECT_EQ(part.Saved(), whole.Saved());
}

// Between two updates of the targets, with priorities and n steps.
TEST(BACKPLANE_LEARNER, ResumesBitEqual) {
  for (const char* prioritized : {"false", "true"}) {
    const Settings settings =
        WithRareTargets({{"prioritized_replay", prioritized}, {"n_step", "3"}, {"buffer_size", "30"}, {"train_freq", "2"}});
    ReplayTrial whole(settings), part(settings);
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(whole.Iterate(), BP_OK) << whole.error();
      const std::string saved = part.Saved();
      part.Again();
      ASSERT_EQ(part.Load(saved), BP_OK) << part.error();
      ASSERT_EQ(part.Iterate(), BP_OK) << part.error();
      EXPECT_EQ(part.Saved(), whole.Saved()) << "iteration " << i;
    }
  }
}

// As an evaluation does, with rows of its own, and a next stage with its own way to sample.
TEST(BACKPLANE_LEARNER, LoadsTheStateOfOtherRowsWithAnEmptyRing) {
  ReplayTrial trial(With({{"prioritized_replay", "true"}})), other(With({}), 5);
  ASSERT_EQ(trial.Iterate(), BP_OK);
  ASSERT_EQ(other.Load(trial.Saved()), BP_OK) << other.error();
  const size_t steps = sizeof(uint64_t) + (trial.Discrete() ? 2 * sizeof(double) : 0);  // and epsilon
  const auto nets = [&](ReplayTrial& t) { return t.SavedPolicy().substr(0, t.SavedPolicy().size() - steps); };
  EXPECT_TRUE(nets(other) == nets(trial)) << "all but the steps with random actions";
  ASSERT_EQ(other.Iterate(1), BP_OK) << other.error();
  EXPECT_EQ(other.host().metrics["train/updates"].back(), 0) << "learning_starts counts again";
}

// Its files do not come along, so the host gives it none.
TEST(BACKPLANE_LEARNER, ANextStageBeginsLikeAStartFromAPolicy) {
  const Settings settings = With({{"learning_starts", "60"}, {"horizon", "20"}});
  ReplayTrial first(settings), staged(settings), started(settings);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(first.Iterate(), BP_OK);
  ASSERT_EQ(staged.Load(first.Saved()), BP_OK) << staged.error();
  ASSERT_EQ(started.StartPolicy(first.SavedPolicy()), BP_OK) << started.error();
  for (ReplayTrial* each : {&staged, &started})
    for (int i = 0; i < 2; ++i) ASSERT_EQ(each->Iterate(), BP_OK) << each->error();
  EXPECT_EQ(Updates(staged), (std::vector<double>{0, 10})) << "learning_starts counts again";
  const auto frames = [](const ReplayTrial& t) {
    return std::vector<float>(t.stored().action.begin(), t.stored().action.begin() + 30 * 2 * t.width());
  };
  EXPECT_EQ(frames(staged), frames(started)) << "the loaded policy acts from the first step";
}

TEST(BACKPLANE_LEARNER, APolicyStartsATrialWithoutRandomActionsAndUpdates) {
  const Settings settings = With({{"learning_starts", "60"}, {"horizon", "20"}});
  ReplayTrial first(settings), second(settings), actor(settings);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(first.Iterate(), BP_OK);
  const std::string policy = first.SavedPolicy();
  ASSERT_EQ(second.StartPolicy(policy), BP_OK) << second.error();
  ASSERT_EQ(actor.LoadPolicy(policy), BP_OK) << actor.error();
  EXPECT_EQ(actor.SavedPolicy(), policy);
  ASSERT_EQ(second.Iterate(), BP_OK) << second.error();
  ASSERT_EQ(actor.Iterate(), BP_OK) << actor.error();
  EXPECT_NE(second.stored().action, actor.stored().action) << "a rollout worker of the first trial still acts randomly";
  EXPECT_EQ(Updates(second), (std::vector<double>{0}));
  ASSERT_EQ(second.Iterate(), BP_OK);
  EXPECT_EQ(Updates(second), (std::vector<double>{0, 10})) << "none is made up for";
}

// The host compares: a started learner's policy is the one that it got.
TEST(BACKPLANE_LEARNER, APolicyToBeginWithStaysTheSame) {
  ReplayTrial fresh(WithRareTargets({})), started(WithRareTargets({}));
  const std::string policy = fresh.SavedPolicy();
  ASSERT_EQ(started.StartPolicy(policy), BP_OK) << started.error();
  EXPECT_EQ(started.SavedPolicy(), policy);
}

// With the optimisers: the host loads the whole state of the other trial first. Its transitions stay where they are.
TEST(BACKPLANE_LEARNER, AStartWithTheWholeStateHasAnEmptyRing) {
  const Settings settings = With({{"prioritized_replay", "true"}});
  ReplayTrial first(settings), second(settings);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(first.Iterate(), BP_OK);
  ASSERT_EQ(second.Load(first.Saved()), BP_OK) << second.error();
  ASSERT_EQ(second.StartPolicy(first.SavedPolicy()), BP_OK) << second.error();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(second.Iterate(), BP_OK) << second.error();
  EXPECT_EQ(Updates(second), (std::vector<double>{5, 15})) << "learning_starts counts again";
  EXPECT_THAT(second.host().files.faults, IsEmpty());
}

TEST(BACKPLANE_LEARNER, StoresEachStepOnce) {
  ReplayTrial trial(With({{"train_freq", "4"}, {"buffer_size", "16"}}));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  const auto entry = 8 + static_cast<size_t>(trial.width() + 2 * ReplayTrial::kObs) * sizeof(float);
  EXPECT_EQ(trial.host().files.bytes_written, trial.steps() * 2 * entry);
}

// 10 transitions are 5 frames of 2 rows.
TEST(BACKPLANE_LEARNER, RejectsABufferWithoutAWindow) {
  ReplayTrial trial(With({{"n_step", "6"}, {"buffer_size", "10"}}));
  EXPECT_EQ(trial.status(), BP_E_CONFIG);
  EXPECT_THAT(trial.error(), HasSubstr("buffer_size: expected at least 12 transitions"));
}

TEST(BACKPLANE_LEARNER, RejectsAHostWithoutFiles) {
  ReplayTrial trial(With({}));
  trial.host().files.missing = true;
  trial.Again();
  EXPECT_EQ(trial.status(), BP_E_UNSUPPORTED);
  EXPECT_THAT(trial.error(), HasSubstr("bp.host.file/1"));
}

TEST(BACKPLANE_LEARNER, AFullDiskIsAnErrorOfTheStep) {
  ReplayTrial trial(With({}));
  trial.host().files.disk = 1000;
  EXPECT_EQ(trial.Iterate(), BP_E_IO);
  EXPECT_THAT(trial.error(), HasSubstr("disk may be full"));
}

TEST(BACKPLANE_LEARNER, ADamagedBufferIsFound) {
  ReplayTrial trial(With({}));
  ASSERT_EQ(trial.Iterate(), BP_OK);
  trial.host().files.damaged = {"replay"};
  EXPECT_EQ(trial.Iterate(), BP_E_IO);
  EXPECT_THAT(trial.error(), HasSubstr("damaged"));
}

}  // namespace
}  // namespace backplane
