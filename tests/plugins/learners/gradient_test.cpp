// Compares the fused gradient with LibTorch's autograd, and both with values from PyTorch in float64.
#include "gradient.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "net_fixture.hpp"

namespace backplane::ppo {
namespace {

using net_fixture::Backwards;
using net_fixture::Distance;
using net_fixture::InOrder;
using net_fixture::kLoss;
using net_fixture::LossWith;
using net_fixture::RandomBatch;
using net_fixture::SeveralActions;
using net_fixture::Shape;
using net_fixture::SilentHost;
using net_fixture::Update;
using net_fixture::WithImages;

struct Case {
  const char* name;
  NetShape shape;
  bool masked = false;
  LossOptions options = LossWith([](LossOptions* o) { o->entropy_coeff = .01; });
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (Activation activation : {Activation::kTanh, Activation::kRelu}) {
    for (bool shared : {false, true}) {
      cases.push_back({"discrete", Shape(true, shared, false, activation)});
      cases.push_back({"masked", Shape(true, shared, false, activation), true});
      cases.push_back({"gaussian", Shape(false, shared, false, activation)});
      cases.push_back({"several", SeveralActions(shared)});
      cases.push_back({"several, masked", SeveralActions(shared), true});
      if (activation == Activation::kTanh) {
        cases.push_back({"images", WithImages(Shape(true, shared))});
        cases.push_back({"images, several actions", WithImages(SeveralActions(shared)), true});
      }
      cases.push_back({"sde", Shape(false, shared, true, activation)});
    }
  }
  Case other{"no value clip, advantages as they are", Shape(false)};
  other.options = LossWith([](LossOptions* o) { o->vf_clip = 0, o->vf_coeff = 1, o->normalize_advantages = false; });
  cases.push_back(other);
  other = {"no hidden layers", Shape(false, false, true)};
  other.shape.hidden = other.shape.vf_hidden = {};
  cases.push_back(other);
  other = {"images only, no hidden layers", WithImages(Shape(true))};
  other.shape.obs = 0, other.shape.hidden = other.shape.vf_hidden = {};
  cases.push_back(other);
  other = {"a critic without hidden layers", Shape(false)};
  other.shape.hidden = {2}, other.shape.vf_hidden = {};  // observations are then the widest array
  cases.push_back(other);
  return cases;
}

template <class T>
void ExpectEqual(double tolerance) {
  at::set_num_threads(1);  // as in a trial
  for (const Case& c : Cases()) {
    const Net net(c.shape);
    for (int64_t n : {1, 130, 700}) {
      if (net.sees() && n > 130) continue;  // convolutions take long
      const RandomBatch<T> batch(net, n, 11, c.masked);
      std::vector<T> fused(net.size), torch(net.size);
      const StepStats a = FusedGradient<T>(net, 2, InOrder(), SilentHost())
                              ->Compute(batch.View(), c.options, batch.params.data(), fused.data());
      const StepStats b =
          TorchGradient<T>(net, SilentHost())->Compute(batch.View(), c.options, batch.params.data(), torch.data());
      const std::string what = std::string(c.name) + (net.shared ? ", shared" : "") + ", n " + std::to_string(n);
      EXPECT_LE(Distance(fused, torch), tolerance) << what;
      for (double StepStats::*each :
           {&StepStats::policy_loss, &StepStats::value_loss, &StepStats::entropy, &StepStats::total, &StepStats::kl}) {
        EXPECT_NEAR(a.*each, b.*each, tolerance * (1 + std::abs(b.*each))) << what;
      }
      EXPECT_EQ(a.clip_fraction, b.clip_fraction) << what;
    }
  }
}

TEST(Gradient, PathsAgreeInDouble) { ExpectEqual<double>(1e-11); }
TEST(Gradient, PathsAgreeInFloat) { ExpectEqual<float>(1e-5); }

TEST(Gradient, DependsOnTheShardsAndNotOnTheOrderInWhichTheyRun) {
  NetShape shape = Shape(false);
  shape.hidden = {128, 128};  // enough work for four shards
  const Net net(shape);
  const RandomBatch<float> batch(net, 1100, 3);
  const auto gradient = [&](int64_t shards, Parallel parallel) {
    std::vector<float> out(net.size);
    FusedGradient<float>(net, shards, std::move(parallel), SilentHost())
        ->Compute(batch.View(), kLoss, batch.params.data(), out.data());
    return out;
  };
  const std::vector<float> four = gradient(4, InOrder());
  EXPECT_EQ(four, gradient(4, Backwards()));
  EXPECT_NE(four, gradient(1, InOrder()));
  EXPECT_LE(Distance(four, gradient(1, InOrder())), 1e-5);
}

// Shards of LibTorch run on any threads, here backwards, and may have devices of their own.
TEST(Gradient, ShardsOfLibTorchDecideTheBitsAndDevicesDoNot) {
  NetShape shape = Shape(false);
  shape.hidden = {128, 128};  // enough work for four shards
  const Net net(shape);
  const RandomBatch<float> batch(net, 1100, 3);
  bp_host host = *SilentHost();
  host.get_extension = [](const bp_host*, const char* id) -> const void* {
    static constexpr bp_host_parallel_1 kBackwards{
        sizeof(bp_host_parallel_1), 0, [](const bp_host*, uint64_t n, void (*piece)(void*, uint64_t), void* context) {
          while (n > 0) piece(context, --n);
        }};
    return std::strcmp(id, BP_HOST_PARALLEL_1) == 0 ? &kBackwards : nullptr;
  };
  const auto gradient = [&](int64_t shards, size_t devices, const bp_host* on) {
    std::vector<float> out(net.size);
    StepStats stats =
        TorchGradient<float>(net, on, {.devices = std::vector<bp_device>(devices, {BP_DEVICE_CPU, 0}), .shards = shards})
            ->Compute(batch.View(), kLoss, batch.params.data(), out.data());
    out.push_back(static_cast<float>(stats.total));
    return out;
  };
  const std::vector<float> four = gradient(4, 1, SilentHost()), one = gradient(1, 1, SilentHost());
  EXPECT_EQ(gradient(4, 1, &host), four) << "in any order";
  EXPECT_EQ(gradient(4, 2, SilentHost()), four);
  EXPECT_EQ(gradient(4, 3, &host), four);
  EXPECT_NE(four, one);
  EXPECT_LE(Distance(four, one), 1e-5);
}

class PpoUpdateTest : public ::testing::TestWithParam<bool> {
 protected:
  template <class T>
  static std::unique_ptr<Gradient<T>> Path(const Net& net) {
    return GetParam() ? FusedGradient<T>(net, 1, InOrder(), SilentHost()) : TorchGradient<T>(net, SilentHost());
  }
};
INSTANTIATE_TEST_SUITE_P(Path, PpoUpdateTest, ::testing::Values(true, false),
                         [](const auto& tested) { return tested.param ? "Fused" : "Torch"; });

// logits = W x + b, V = w x + c: a Net without hidden layers, whose weights lie [in, out].
TEST_P(PpoUpdateTest, AgreesWithPyTorch) {
  const Net net({.obs = 2, .actions = 2, .discrete = true});
  Update<double> update(net, Path<double>(net));
  const double first[] = {.1, .3, -.2, .4, 0, .1, .5, -.5, .2};
  std::copy(std::begin(first), std::end(first), update.params());
  const double obs[] = {1, 0, 0, 1, 1, 1, -1, .5}, logp[] = {-.7, -.9, -.4, -.6}, adv[] = {1, -1, .5, 2},
               ret[] = {1, 0, .5, -1};
  const double value[] = {.9, -.1, .2, -.3};
  const int64_t choice[] = {0, 1, 1, 0};
  const Minibatch<double> batch{4, obs, nullptr, choice, nullptr, logp, adv, ret, value};
  const LossOptions options = LossWith([](LossOptions* o) { o->entropy_coeff = .01; });
  const StepStats s = update.Step(batch, options, .01);
  EXPECT_NEAR(s.policy_loss, .270802285899, 1e-11);
  EXPECT_NEAR(s.value_loss, .065, 1e-11);
  EXPECT_NEAR(s.entropy, .651737122520, 1e-11);
  EXPECT_NEAR(s.total, .296784914673, 1e-11);
  EXPECT_NEAR(s.kl, .044536564567, 1e-11);
  EXPECT_NEAR(s.clip_fraction, .25, 1e-11);
  EXPECT_NEAR(s.grad_norm, .627441001936, 1e-11);
  const double* p = update.params();
  const double once[] = {.090001589835321, -.190000506342505, .009999638374761, .090000361625239,
                         .509997769592687, -.490001672898766, .209998661636208};
  const double thrice[] = {.070008463831537, -.170000134884747, .029998135479259, .070001864520741,
                           .529996744369537, -.470143652471925, .229998182655445};
  const int place[] = {0, 2, 4, 5, 6, 7, 8};
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(p[place[i]], once[i], 1e-12) << i;
  update.Step(batch, options, .01), update.Step(batch, options, .01);
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(p[place[i]], thrice[i], 1e-12) << i;
}

TEST_P(PpoUpdateTest, RejectsALossThatIsNotFinite) {
  const Net net({.obs = 1, .actions = 2, .discrete = true});
  Update<float> update(net, Path<float>(net));
  const float x = NAN, zero = 0;
  const int64_t choice = 0;
  try {
    update.Step({1, &x, nullptr, &choice, nullptr, &zero, &zero, &zero, &zero}, kLoss, .01);
    FAIL() << "no error";
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_NUMERIC);
  }
}

TEST(PpoUpdate, RejectsAStateThatNoLossShows) {
  const Net net({.obs = 1, .actions = 2, .discrete = true});
  const float x = 1, zero = 0, huge = 1e22f, logp = -.69314718f;
  const int64_t choice = 0;
  const auto state_after = [&](const float& advantage, double lr) {
    Update<float> update(net, FusedGradient<float>(net, 1, InOrder(), SilentHost()));
    const Minibatch<float> batch{1, &x, nullptr, &choice, nullptr, &logp, &advantage, &zero, &zero};
    EXPECT_TRUE(update.Step(batch, kLoss, lr, /*grad_clip=*/0).applied);
    try {
      update.RequireFiniteState();
    } catch (const bp::Error& e) {
      EXPECT_EQ(e.code(), BP_E_NUMERIC);
      return std::string(e.what());
    }
    return std::string("finite");
  };
  const float one = 1;
  EXPECT_EQ(state_after(one, 1e-3), "finite");
  EXPECT_THAT(state_after(one, 1e39), ::testing::HasSubstr("the norm of the parameters is "));
  EXPECT_THAT(state_after(huge, 1e-3), ::testing::HasSubstr("the norm of Adam's second moments is infinite; a smaller lr"));
}

}  // namespace
}  // namespace backplane::ppo
