// Acting and the fused update together: the update starts from the values that acting wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "net_fixture.hpp"
#include "on_policy/amp.hpp"

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

// Samples at arbitrary places, in any order.
TEST_P(EveryPolicy, AnIndexGivesTheBitsOfSamplesPutOneBehindTheOther) {
  std::vector<int64_t> index(kRows - 50);
  for (int64_t i = 0; i < kRows - 50; ++i) index[i] = i * 7 % kRows;
  RandomBatch<float> gathered(net_, kRows - 50, 5);
  const auto take = [&](const auto& from, int64_t each, auto* to) {
    for (size_t i = 0; i < index.size(); ++i)
      std::copy_n(from.begin() + index[i] * each, each, to->begin() + static_cast<int64_t>(i) * each);
  };
  take(random_.obs, net_.obs, &gathered.obs), take(random_.action, net_.action.numbers, &gathered.action);
  take(random_.logp, 1, &gathered.logp), take(random_.advantage, 1, &gathered.advantage);
  take(random_.ret, 1, &gathered.ret), take(random_.value, 1, &gathered.value),
      take(random_.choice, net_.action.choices, &gathered.choice);
  Minibatch<float> indexed = random_.View();
  indexed.n = kRows - 50, indexed.index = index.data();
  const auto gradient = [&](const Minibatch<float>& batch) {
    std::vector<float> out(net_.size);
    FusedGradient<float>(net_, 2, InOrder(), SilentHost())
        ->Compute(batch, net_fixture::kLoss, random_.params.data(), out.data());
    return out;
  };
  EXPECT_EQ(gradient(indexed), gradient(gathered.View()));
}

// Several steps of two nets large enough for every kind of piece; a fresh gradient contains old data.
void ExpectTheSameBitsForAnyOrder(nn::Precision precision) {
  for (const bool shared : {false, true}) {
    NetShape shape = Shape(false, shared);
    shape.hidden = {150, 120}, shape.vf_hidden = {130};
    const Net net(shape);
    for (const int64_t n : {90, 700}) {
      const RandomBatch<float> batch(net, n, 3);
      const auto params_after = [&](const Parallel& parallel) {
        net_fixture::Update<float> update(net, FusedGradient<float>(net, 3, parallel, SilentHost(), precision), parallel);
        std::copy(batch.params.begin(), batch.params.end(), update.params());
        std::fill_n(update.gradient(), net.size, 1e3f);
        for (int step = 0; step < 3; ++step) update.Step(batch.View(), net_fixture::kLoss, 1e-2);
        return std::vector<float>(update.params(), update.params() + net.size);
      };
      EXPECT_EQ(params_after(InOrder()), params_after(net_fixture::Backwards()));
    }
  }
}

TEST(FusedUpdate, HasTheSameBitsForAnyOrderOfPieces) { ExpectTheSameBitsForAnyOrder(nn::Precision::kFull); }

// Mixed precision, compared with float32.
class MixedPrecision : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!nn::HasBf16()) GTEST_SKIP() << "no avx512_bf16";
  }
  struct Found {
    StepStats stats;
    std::vector<float> gradient;
  };
  static Found Compute(const Net& net, const RandomBatch<float>& batch, const LossOptions& loss, nn::Precision precision) {
    Found found{{}, std::vector<float>(net.size)};
    found.stats = FusedGradient<float>(net, 2, InOrder(), SilentHost(), precision)
                      ->Compute(batch.View(), loss, batch.params.data(), found.gradient.data());
    return found;
  }
};

TEST_F(MixedPrecision, HasTheSameBitsForAnyOrderOfPieces) { ExpectTheSameBitsForAnyOrder(nn::Precision::kBf16); }

// A gradient passes six products, three forward and three backward, each of two rounded factors. A rounding error is at most
// 2^-8 and evenly spread, so its root mean square is 2^-8 / sqrt(3). The twelve are independent, which gives 2^-7 in total; the
// bound is four times that. Clips are off, because their kinks turn a small difference into a whole sample's.
TEST_F(MixedPrecision, GradientsEqualFloat32WithinTheRoundingOfFactors) {
  const LossOptions loss = net_fixture::LossWith([](LossOptions* o) { o->clip = 1e9, o->vf_clip = 0, o->entropy_coeff = .01; });
  for (const NetShape& shape : {Shape(true), Shape(false), Shape(false, true), Shape(false, false, true)}) {
    const Net net(shape);
    RandomBatch<float> batch(net, 700, 11);
    const Found whole = Compute(net, batch, loss, nn::Precision::kFull),
                mixed = Compute(net, batch, loss, nn::Precision::kBf16);
    const double distance = net_fixture::Distance(mixed.gradient, whole.gradient);
    EXPECT_LE(distance, 4 * std::ldexp(1, -7)) << ::testing::PrintToString(shape);
    EXPECT_GE(distance, std::ldexp(1, -12)) << "not rounded at all: " << ::testing::PrintToString(shape);
    EXPECT_NEAR(mixed.stats.total, whole.stats.total, .02 * (1 + std::abs(whole.stats.total)));
  }
}

// Acting is float32, so the ratio of the first minibatch is 1 up to rounding.
TEST_F(MixedPrecision, FirstMinibatchHasARatioNearOne) {
  constexpr int64_t kRows = 300;
  const Net net(Shape(false));
  RandomBatch<float> random(net, kRows, 5);
  Acting acting(net, kRows);
  std::copy(random.obs.begin(), random.obs.end(), acting.obs.data.begin());
  acting.Act(random.params.data(), 0, kRows);
  random.action = acting.raw.data, random.logp = acting.logp.data, random.value = random.ret = acting.value.data;
  const StepStats stats = Compute(net, random, net_fixture::kLoss, nn::Precision::kBf16).stats;
  EXPECT_LT(stats.kl, 1e-3);
  EXPECT_GT(stats.kl, 0) << "not rounded at all";
  EXPECT_EQ(stats.clip_fraction, 0);
  EXPECT_LT(stats.value_loss, 1e-3);
}

TEST(FusedPrecision, IsMixedIfTheProcessorSupportsIt) {
  EXPECT_EQ(FusedPrecision(Amp::kOff, false), nn::Precision::kFull);
  EXPECT_EQ(FusedPrecision(Amp::kOff, true), nn::Precision::kFull);
  EXPECT_EQ(FusedPrecision(Amp::kOn, true), nn::Precision::kBf16);
  EXPECT_EQ(FusedPrecision(Amp::kBf16, true), nn::Precision::kBf16);
  try {
    FusedPrecision(Amp::kOn, false);
    FAIL() << "no error";
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    EXPECT_STREQ(
        e.what(),
        "use_amp: expected a CPU with avx512_bf16, got one without, on which it would only be slower; update_path: torch uses "
        "it anyway");
  }
}

// A host that only listens.
TEST(FusedUpdate, ForwardPassesAreAPhase) {
  static std::map<std::string, int> entered;
  bp_host host = *SilentHost();
  host.get_extension = [](const bp_host*, const char* id) -> const void* {
    static constexpr bp_host_phase_1 kPhases{sizeof(bp_host_phase_1), 0,
                                             [](const bp_host*, const char* phase) { return ++entered[phase]; },
                                             [](const bp_host*, int32_t) {}};
    return std::string(id) == BP_HOST_PHASE_1 ? &kPhases : nullptr;
  };
  for (const bool shared : {false, true}) {
    entered.clear();
    const Net net(Shape(false, shared));
    const RandomBatch<float> batch(net, 10, 3);
    std::vector<float> out(net.size);
    FusedGradient<float>(net, 1, InOrder(), &host)->Compute(batch.View(), net_fixture::kLoss, batch.params.data(), out.data());
    EXPECT_GE(entered[BP_PHASE_UPDATE_FORWARD], shared ? 2 : 4) << "packing and passes";
    EXPECT_EQ(entered.size(), 1u);
  }
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

// Over many noise functions, an action's deviation equals the log-probability's.
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
