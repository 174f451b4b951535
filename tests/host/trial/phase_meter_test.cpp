#include "trial/phase_meter.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace backplane {
namespace {

void Pass(PhaseClock& clock, Phase phase, int64_t us) {
  const PhaseSpan span(clock, phase);
  for (const int64_t end = NowNs() + us * 1000; NowNs() < end;) {
  }
}

TEST(PhaseMeter, CountsEachPhaseOnceAndRestAsIdle) {
  std::vector<PhaseClock> clocks(2);
  PhaseMeter meter(clocks);
  Pass(clocks[0], Phase::kEnvStep, 3000);
  Pass(clocks[1], Phase::kInfer, 2000);
  std::map<std::string, double> first, second;
  meter.AddTo(&first);
  EXPECT_NEAR(static_cast<double>(clocks[0].ns(Phase::kEnvStep)) * 1e-9, first.at("env_step"), 1e-6);
  EXPECT_NEAR(static_cast<double>(clocks[1].ns(Phase::kInfer)) * 1e-9, first.at("infer"), 1e-6);
  EXPECT_GE(first.at("idle"), 0.003) << "the second thread while the first one worked";
  EXPECT_FALSE(first.contains("eval"));
  Pass(clocks[0], Phase::kEval, 1000);
  meter.AddTo(&second);
  EXPECT_GE(second.at("eval"), 0.001);
  EXPECT_FALSE(second.contains("env_step")) << "it was counted before";
}

TEST(PhaseMeter, AddsToExistingTimes) {
  std::vector<PhaseClock> clocks(1);
  PhaseMeter meter(clocks);
  Pass(clocks[0], Phase::kEval, 1000);
  std::map<std::string, double> seconds = {{"eval", 10}};
  meter.AddTo(&seconds);
  EXPECT_GE(seconds.at("eval"), 10.001);
}

TEST(PhaseMeter, LosesNothingWhenClocksAreReset) {
  std::vector<PhaseClock> clocks(1);
  PhaseMeter meter(clocks);
  Pass(clocks[0], Phase::kEnvStep, 2000);
  meter.ResetClocks();
  EXPECT_EQ(0, clocks[0].total_ns());
  Pass(clocks[0], Phase::kEnvStep, 1000);
  std::map<std::string, double> seconds;
  meter.AddTo(&seconds);
  EXPECT_GE(seconds.at("env_step"), 0.003);
}

}  // namespace
}  // namespace backplane
