// PPO with a memory, tested through its function table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cartpole_trial.hpp"

namespace backplane::ppo {
namespace {

using backplane::test_support::CartPoleTrial;
using ::testing::HasSubstr;

using Settings = std::map<std::string, std::string>;

// Uniform weights let the memory move the outputs from the start.
const Settings kMemory = {{"train_batch_size", "128"},
                          {"minibatch_size", "40"},
                          {"ortho_init", "false"},
                          {"memory", R"({"kind": "gru", "size": 24, "sequence": 8})"}};

Settings With(Settings options, const Settings& more) {
  for (const auto& [name, value] : more) options[name] = value;
  return options;
}

TEST(PpoMemory, ARowsResultDoesNotDependOnTheRange) {
  CartPoleTrial trial(13, 4, kMemory);
  trial.Iterate();
  trial.Act(0, 0, 13);
  const std::vector<float> value = trial.value().data, logp = trial.logp().data, memory = trial.memory().data;
  for (int64_t row = 0; row < 13; ++row) trial.Act(0, row, row + 1);
  EXPECT_EQ(value, trial.value().data);
  EXPECT_EQ(logp, trial.logp().data);
  EXPECT_EQ(memory, trial.memory().data);
}

TEST(PpoMemory, LearnsOnBitForBitAfterLoading) {
  const Settings options = With(kMemory, {{"normalize_obs", "true"}, {"normalize_rewards", "true"}});
  CartPoleTrial one(4, 32, options), two(4, 32, options);
  for (int i = 0; i < 3; ++i) one.Iterate(), two.Iterate();
  const std::string saved = one.Saved();
  ASSERT_EQ(two.Resume(saved), BP_OK) << two.error();
  one.Iterate(), two.Iterate();
  const std::string after = one.Saved();
  EXPECT_NE(after, saved);
  EXPECT_EQ(after, two.Saved());
}

// A trial that has learned for a while, so that its memory matters, and learns nothing from here on.
class Settled : public CartPoleTrial {
 public:
  Settled(int64_t horizon, const Settings& more) : CartPoleTrial(4, horizon, With(With(kMemory, more), {{"lr", "1e-30"}})) {
    CartPoleTrial learned(4, 32, With(kMemory, {{"lr", "0.01"}}));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(learned.Iterate(), BP_OK) << learned.error();
    EXPECT_EQ(Load(learned.Saved()), BP_OK) << error();
  }
  const std::vector<double>& Recorded(const char* metric) { return host().metrics[metric]; }
};

// Acting and training start the memory from zeros at the same entries, and training starts from the memory that acting had.
TEST(PpoMemory, RatiosStayOneAtALearningRateNearZero) {
  for (const char* sequence : {"1", "8", "20", "32"}) {
    Settled trial(32, {{"memory", std::string(R"({"kind": "gru", "size": 24, "sequence": )") + sequence + "}"}});
    for (int i = 0; i < 3; ++i) ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    EXPECT_GT(trial.returns().size(), 5) << "episodes end within sequences";
    EXPECT_THAT(trial.Recorded("train/kl"), ::testing::Each(::testing::Lt(1e-7))) << sequence;
    EXPECT_THAT(trial.Recorded("train/clip_fraction"), ::testing::Each(0)) << sequence;
    EXPECT_GE(trial.Recorded("train/kl").size(), 3 * 10 * 3);
  }
}
// The comparison notices a memory that differs a little.
TEST(PpoMemory, RatiosMoveWithTheMemory) {
  Settled trial(32, {});
  trial.Play(0);
  for (float& x : trial.memory().data) x += .01f;
  ASSERT_EQ(trial.Learn(trial.Deliver()), BP_OK) << trial.error();
  EXPECT_GT(trial.Recorded("train/kl")[0], 1e-6);
}

// With lambda 0, the value loss contains the value of each step's successor. For the last step of a rollout it is computed, and
// otherwise it is the value that acting found one step later.
TEST(PpoMemory, BootstrapValueIsTheValueAtTheNextStart) {
  const Settings once = {{"lambda", "0"}, {"num_epochs", "1"}, {"minibatch_size", "1000"}};
  Settled whole(32, once), half(16, With(once, {{"train_batch_size", "64"}}));
  ASSERT_EQ(whole.Iterate(), BP_OK) << whole.error();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(half.Iterate(), BP_OK) << half.error();
  const std::vector<double>& losses = half.Recorded("train/value_loss");
  ASSERT_EQ(losses.size(), 2);
  EXPECT_NEAR((losses[0] + losses[1]) / 2, whole.Recorded("train/value_loss")[0], 1e-6);
}

TEST(PpoMemory, RejectsWrongOptions) {
  const auto error = [](const Settings& more) {
    const CartPoleTrial trial(2, 8, With(kMemory, more));
    EXPECT_NE(trial.status(), BP_OK);
    return trial.error();
  };
  EXPECT_THAT(error({{"memory", R"({"kind": "lstm"})"}}), HasSubstr("memory.kind: expected gru, got \"lstm\" (test.yaml:1:1)"));
  EXPECT_THAT(error({{"memory", R"({"size": 12})"}}), HasSubstr("memory: expected {kind: gru}"));
  EXPECT_THAT(error({{"memory", R"({"kind": "gru", "size": 0})"}}), HasSubstr("memory.size: expected a whole number from 1"));
  EXPECT_THAT(error({{"memory", R"({"kind": "gru", "sequence": 1.5})"}}),
              HasSubstr("memory.sequence: expected a whole number"));
  EXPECT_THAT(error({{"memory", R"({"kind": "gru", "length": 8})"}}), HasSubstr("size and sequence, got 'length'"));
  EXPECT_THAT(error({{"minibatch_size", "7"}}), HasSubstr("minibatch_size: expected memory.sequence (8) or more"));
  EXPECT_THAT(error({{"update_path", "torch"}}), HasSubstr("the path of LibTorch has no memory"));
  EXPECT_THAT(error({{"device", "cuda"}}), HasSubstr("updates with a memory run on the CPU"));
}

}  // namespace
}  // namespace backplane::ppo
