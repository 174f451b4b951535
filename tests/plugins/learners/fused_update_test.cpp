// Acting and the fused update against each other: what one wrote is what the other starts from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "net_fixture.hpp"

namespace backplane::ppo {
namespace {

using net_fixture::Acting;
using net_fixture::InOrder;
using net_fixture::RandomBatch;
using net_fixture::Shape;
using net_fixture::SilentHost;

class EveryPolicy : public ::testing::TestWithParam<NetShape> {
 protected:
  EveryPolicy() : net_(GetParam()), random_(net_, kRows, 5), acting_(net_, kRows) {
    std::copy(random_.obs.begin(), random_.obs.end(), acting_.obs.data.begin());
  }
  static constexpr int64_t kRows = 300;
  Net net_;
  RandomBatch<float> random_;
  Acting acting_;
};
INSTANTIATE_TEST_SUITE_P(Net, EveryPolicy,
                         ::testing::Values(Shape(true), Shape(true, true), Shape(false), Shape(false, true),
                                           Shape(false, false, true), Shape(false, true, true, Activation::kRelu)),
                         [](const auto& tested) { return ::testing::PrintToString(tested.param); });

TEST_P(EveryPolicy, FirstMinibatchHasRatioOne) {
  acting_.Act(random_.params.data(), 0, kRows);
  std::vector<int64_t> choice(acting_.choice.data.begin(), acting_.choice.data.end());
  const Minibatch<float> batch{kRows,
                               random_.obs.data(),
                               net_.discrete ? nullptr : acting_.raw.data.data(),
                               net_.discrete ? choice.data() : nullptr,
                               nullptr,
                               acting_.logp.data.data(),
                               random_.advantage.data(),
                               acting_.value.data.data(),
                               acting_.value.data.data()};
  net_fixture::Update<float> update(net_, FusedGradient<float>(net_, 2, InOrder(), SilentHost()));
  std::copy(random_.params.begin(), random_.params.end(), update.params());
  const StepStats s = update.Step(batch, net_fixture::LossWith([](LossOptions* o) { o->normalize_advantages = false; }), 1e-3);
  EXPECT_NEAR(s.kl, 0, 1e-7);
  EXPECT_EQ(s.clip_fraction, 0);
  EXPECT_NEAR(s.policy_loss, -std::accumulate(random_.advantage.begin(), random_.advantage.end(), 0.0) / kRows, 1e-5);
  EXPECT_EQ(s.value_loss, 0) << "acting and learning compute values with the same bits";
}

TEST_P(EveryPolicy, ARowsResultDoesNotDependOnTheRange) {
  acting_.Act(random_.params.data(), 0, kRows);
  const auto results = [&] {
    return std::vector{
        acting_.logp.data, acting_.value.data,
        net_.discrete ? std::vector<float>(acting_.choice.data.begin(), acting_.choice.data.end()) : acting_.raw.data};
  };
  const auto together = results();
  for (int64_t row = 0; row < kRows; ++row) acting_.Act(random_.params.data(), row, row + 1);
  EXPECT_EQ(results(), together);
}

TEST(Sde, NoiseIsOneFunctionOfTheLatentForAsManyStepsAsAsked) {
  const Net net(Shape(false, false, true));
  const RandomBatch<float> random(net, 1, 5);
  Acting acting(net, 1, /*sde_steps=*/4);
  std::copy(random.obs.begin(), random.obs.end(), acting.obs.data.begin());
  std::vector<float> drawn;
  for (uint64_t step = 0; step < 8; ++step) acting.Act(random.params.data(), 0, 1, step), drawn.push_back(acting.raw.data[0]);
  EXPECT_THAT(std::vector(drawn.begin() + 1, drawn.begin() + 4), ::testing::Each(drawn[0]));
  EXPECT_THAT(std::vector(drawn.begin() + 5, drawn.end()), ::testing::Each(drawn[4]));
  EXPECT_NE(drawn[0], drawn[4]);
}

// Over many noise functions the deviation of an action is that of the log-probability.
TEST(Sde, NoiseHasTheVarianceOfTheLogProbability) {
  const Net net(Shape(false, false, true));
  const RandomBatch<float> random(net, 1, 5);
  Acting acting(net, 1, /*sde_steps=*/1);
  std::copy(random.obs.begin(), random.obs.end(), acting.obs.data.begin());
  acting.Act(random.params.data(), 0, 1, 0, BP_ACT_GREEDY);
  const std::vector<float> mean = acting.raw.data;
  const double at_mean = acting.logp.data[0];  // -sum log std - n/2 log 2 pi
  constexpr int kDraws = 4000;
  std::vector<double> squares(net.actions);
  for (uint64_t step = 0; step < kDraws; ++step) {
    acting.Act(random.params.data(), 0, 1, step);
    for (int64_t k = 0; k < net.actions; ++k) squares[k] += std::pow(acting.raw.data[k] - mean[k], 2) / kDraws;
  }
  double from_draws = 0;
  for (double s : squares) from_draws -= .5 * std::log(s) + .91893853320467274178;
  EXPECT_NEAR(from_draws, at_mean, .1);  // the sum of three, each with a standard error of 0.011
}

}  // namespace
}  // namespace backplane::ppo
