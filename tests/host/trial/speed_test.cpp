#include "trial/speed.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

OpenIteration Took(double seconds, double collecting_s, uint64_t steps) {
  return {.steps = steps,
          .start_ns = 5,
          .end_ns = 5 + static_cast<int64_t>(seconds * 1e9),
          .collect_ns = static_cast<int64_t>(collecting_s * 1e9)};
}

LoopResult ResultOf(const TrialSpeed& speed) {
  LoopResult result;
  speed.AddTo(&result, 100);
  return result;
}

TEST(TrialSpeed, FirstIterationCountsOnlyUntilTheSecond) {
  TrialSpeed speed({}, 1);
  EXPECT_FALSE(ResultOf(speed).sps);
  speed.Add(Took(10, 5, 100));
  EXPECT_DOUBLE_EQ(ResultOf(speed).sps.value(), 10);
  EXPECT_DOUBLE_EQ(ResultOf(speed).sampling_sps.value(), 20);
  speed.Add(Took(1, 0.5, 100));
  speed.Add(Took(3, 0.5, 100));
  EXPECT_DOUBLE_EQ(ResultOf(speed).sps.value(), 50) << "steps by seconds, not a mean of speeds";
  EXPECT_DOUBLE_EQ(ResultOf(speed).sampling_sps.value(), 200);
}

TEST(TrialSpeed, ThePrecisionIsOfAllIterationsButTheFirst) {
  ReportConfig report;
  report.precision_pct = 5;
  TrialSpeed speed(report, 1);
  EXPECT_FALSE(speed.measuring().Ended(0));
  for (int i = 0; i < 4; ++i) speed.Add(Took(i == 0 ? 50 : 1, 0.5, 100));
  EXPECT_TRUE(speed.measuring().Ended(0));
  const ReachedPrecision precision = ResultOf(speed).precision.value();
  EXPECT_EQ(precision.iterations, 3u);
  EXPECT_EQ(precision.seconds, 100);
}

}  // namespace
}  // namespace backplane
