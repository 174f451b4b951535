// The learner's promises, tested through its function table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents.hpp"
#include "driven_learner.hpp"

namespace backplane::mappo {
namespace {

using backplane::test_support::AgentEnv;
using backplane::test_support::AgentRollout;
using backplane::test_support::AgentShape;
using backplane::test_support::DrivenLearner;
using Settings = std::map<std::string, std::string>;

class Trial : public DrivenLearner {
 public:
  explicit Trial(Settings options = {}, const AgentShape& shape = {})
      : DrivenLearner(std::move(options)), env_(shape), rollout_(shape) {
    Create(env_.spec, env_.shape.rows);
  }

  bp_status Collect(uint64_t seed) {
    Plan();
    rollout_.Fill(seed);
    for (int64_t t = 0; t < env_.shape.steps; ++t) {
      std::vector<bp_tensor> in = rollout_.In(t), out = rollout_.Out(t);
      std::vector<bp_tensor*> ins = rollout_.Pointers(in), outs = rollout_.Pointers(out);
      Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, static_cast<uint64_t>(env_.shape.rows), 0, 7, step_++, ins.data(), outs.data()});
    }
    return Consume(rollout_.delivery().raw());
  }
  // One rollout and its update.
  bp_status Iterate(uint64_t seed) { return Learn(Collect(seed)); }
  bp_status Resume(const std::string& saved) {
    Create(env_.spec, env_.shape.rows);
    return Load(saved);
  }

 private:
  AgentEnv env_;
  AgentRollout rollout_;
  uint64_t step_ = 0;
};

const Settings kSmall = {{"hidden", "[16, 8]"}, {"train_batch_size", "36"}, {"num_minibatches", "3"}, {"num_epochs", "2"}};

const AgentShape kNumbers{.actions = 0, .has_mask = false, .numbers = 2},
    kMixed{.actions = 3, .more = 2, .numbers = 2, .bits = 2};

Settings With(Settings options, const Settings& more) {
  for (const auto& [key, value] : more) options[key] = value;
  return options;
}

TEST(Mappo, LearnsOnBitForBitAfterLoading) {
  for (const char* path : {"fused", "torch"}) {
    const Settings options = With(kSmall, {{"value_norm", "true"},
                                           {"huber_delta", "10"},
                                           {"vf_clip", "true"},
                                           {"normalize_advantages", "iteration"},
                                           {"separate_grad_clip", "true"},
                                           {"update_path", path}});
    for (const AgentShape& shape : {AgentShape(), kNumbers, kMixed}) {
      Trial one(options, shape), two(options, shape);
      for (uint64_t i = 0; i < 3; ++i) {
        ASSERT_EQ(one.Iterate(i), BP_OK) << one.error();
        ASSERT_EQ(two.Iterate(i), BP_OK) << two.error();
      }
      const std::string saved = one.Saved();
      EXPECT_EQ(saved, two.Saved());
      ASSERT_EQ(two.Resume(saved), BP_OK) << two.error();
      one.Iterate(4), two.Iterate(4);
      EXPECT_NE(one.Saved(), saved);
      EXPECT_EQ(one.Saved(), two.Saved());
    }
  }
}

TEST(Mappo, ActsOutItsActionsThenLogpAndRawAction) {
  Trial trial({}, kMixed);
  std::vector<std::string> outputs, kept;
  for (uint64_t i = 0; i < trial.spec().n_act_out; ++i) outputs.push_back(trial.spec().act_out[i].name);
  EXPECT_THAT(outputs, ::testing::ElementsAre("action", "action/numbers", "action/bits", "logp", "raw_action"));
  for (const char* const* name = trial.spec().keep; *name; ++name) kept.push_back(*name);
  EXPECT_THAT(kept, ::testing::IsSupersetOf({"action", "action/bits"}));
  EXPECT_THAT(kept, ::testing::Not(::testing::Contains("action/numbers"))) << "raw_action has the unclipped ones";
}

TEST(Mappo, ActsOnlyOnObservationsMasksAndAlive) {
  Trial trial;
  std::vector<std::string> read;
  for (const char* const* name = trial.spec().act_in; *name; ++name) read.push_back(*name);
  EXPECT_THAT(read, ::testing::ElementsAre("obs", "action_mask", "alive"));
}

TEST(Mappo, AsksForARolloutThenEpochsTimesMinibatchesTicks) {
  Trial trial(kSmall);
  EXPECT_EQ(trial.Plan().kind, uint32_t{BP_REQ_ROLLOUT});
  EXPECT_EQ(trial.Plan().u.rollout.horizon, 12u);
  ASSERT_EQ(trial.Collect(1), BP_OK) << trial.error();
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(trial.Plan().kind, uint32_t{BP_REQ_TICK});
    ASSERT_EQ(trial.Tick(), BP_OK) << trial.error();
  }
  EXPECT_EQ(trial.Plan().kind, uint32_t{BP_REQ_ROLLOUT});
}

// Without ALIVE, a rollout of 12 steps has 144 samples. Three parts of at most 50 samples have 48 each.
TEST(Mappo, CutsAnEpochIntoEqualParts) {
  const AgentShape shape = {.has_alive = false};
  Trial by_number(kSmall, shape), by_size(With(kSmall, {{"minibatch_size", "50"}}), shape);
  ASSERT_EQ(by_number.Iterate(1), BP_OK) << by_number.error();
  ASSERT_EQ(by_size.Iterate(1), BP_OK) << by_size.error();
  EXPECT_EQ(by_size.Saved(), by_number.Saved());
}

TEST(Mappo, OnACpuARowsResultIsItsOwn) {
  for (const char* path : {"fused", "torch"}) {
    const Trial trial(Settings{{"update_path", path}});
    EXPECT_EQ(trial.spec().flags, uint64_t{BP_LEARNER_ROW_EXACT});
  }
  EXPECT_EQ(bp_module_v1()->descriptor(0)->flags & BP_FLAG_ROW_EXACT, 0u) << "not so on a GPU";
}

TEST(Mappo, ARolloutCanHaveThisManyEpisodes) {
  Trial trial(Settings{{"episodes_per_batch", "20"}});  // of 50 steps, over 3 rows
  EXPECT_EQ(trial.Plan().u.rollout.horizon, 334u);
}

TEST(Mappo, ASavedConfigurationMaySpellTheDefaultOut) {
  Trial trial(Settings{{"episodes_per_batch", "20"}, {"train_batch_size", "2048"}});
  EXPECT_EQ(trial.Plan().u.rollout.horizon, 334u);
}

TEST(Mappo, RejectsContradictoryOptions) {
  const auto error = [](const Settings& options, const AgentShape& shape = {}) { return Trial(options, shape).error(); };
  EXPECT_EQ(error({{"episodes_per_batch", "2"}, {"train_batch_size", "64"}}),
            "expected episodes_per_batch or train_batch_size as the length of a rollout, got both");
  EXPECT_EQ(error({{"episodes_per_batch", "2"}}, {.max_episode_steps = 0}),
            "episodes_per_batch: expected an env with a step limit per episode, got one without; set train_batch_size instead");
  EXPECT_EQ(error({{"hidden", "[]"}}), "hidden: expected one layer or more, got none");
  EXPECT_EQ(error({{"device", "cuda"}, {"update_path", "fused"}}), "device: expected update_path: torch or auto, got fused");
  EXPECT_EQ(error({{"devices", "[0]"}}), "devices: expected two numbers, of the actor's and of the critic's device, got 1");
  EXPECT_EQ(error({{"devices", "[0, 1]"}}),
            "devices: expected update_path: torch or a GPU (resources.gpus), got the fused update of a CPU");
  EXPECT_EQ(error({}, {.has_state = false}),
            "critic: central: expected an env with a STATE channel, got one without; set critic: independent");
  EXPECT_EQ(error({{"critic", "independent"}}, {.has_state = false}), "");
  EXPECT_EQ(error({}, {.masked = 4}), "expected one flag per choice in channel 'action_mask', got 4 of 8 bits");
}

TEST(Mappo, RejectsAStateOfADifferentShape) {
  Trial central(kSmall), independent(With(kSmall, {{"critic", "independent"}}));
  EXPECT_EQ(independent.Load(central.Saved()), BP_E_INVALID_ARG);
  EXPECT_EQ(independent.error(), "the saved state has a different shape: size of the critic's state: expected 0, got 7");
}

TEST(Mappo, RejectsAnUpdateWithNonFiniteParameters) {
  Trial trial(With(kSmall, {{"lr", "1.0e39"}, {"num_epochs", "1"}, {"num_minibatches", "1"}}));
  EXPECT_EQ(trial.Iterate(1), BP_E_NUMERIC);
  EXPECT_THAT(trial.error(), ::testing::StartsWith("the norm of the parameters is "));
}

}  // namespace
}  // namespace backplane::mappo
