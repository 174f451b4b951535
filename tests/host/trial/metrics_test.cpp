#include "trial/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(MetricsHub, GivesTheMeanOfAnIterationAndForgetsIt) {
  MetricsHub hub;
  const int32_t loss = hub.Add(false, {"train/loss", "", "", -1});
  hub.Record(loss, 1);
  hub.Record(loss, 3);
  EXPECT_THAT(hub.Take(false), ElementsAre(Pair("train/loss", 2.0)));
  EXPECT_THAT(hub.Take(false), IsEmpty());
}

TEST(MetricsHub, KeepsTheMachineApartFromTheExperiment) {
  MetricsHub hub;
  hub.Record(hub.Add(true, {"rss", "MB", "", 0}), 7);
  EXPECT_THAT(hub.Take(false), IsEmpty());
  EXPECT_THAT(hub.Take(true), ElementsAre(Pair("rss", 7.0)));
}

TEST(MetricsHub, SumsMonitorMetricsByGroupOfPhases) {
  MetricsHub hub;
  const int32_t use = hub.Add(true, {"gpu", "%", "", 0});
  hub.RecordSince(use, 70);
  EXPECT_THAT(hub.ByGroup(), IsEmpty()) << "no clock to look at";
  PhaseClock clock;
  hub.Watch(&clock);
  const PhaseSpan span(clock, Phase::kInfer);
  while (NowNs() == clock.since_ns()) {
  }
  hub.RecordSince(use, 30);
  EXPECT_EQ(hub.ByGroup().at("gpu").Mean(PhaseGroup::kActionSelection), 30);
  EXPECT_FALSE(hub.ByGroup().at("gpu").Mean(PhaseGroup::kUpdate));
  EXPECT_THAT(hub.Take(true), ElementsAre(Pair("gpu", 50.0)));
}

TEST(MetricsHub, KeepsUnitAndDirectionOfARegistration) {
  MetricsHub hub;
  hub.Add(false, {"train/loss", "nats", "of the policy", -1});
  ASSERT_EQ(hub.Registered().size(), 1u);
  EXPECT_EQ(hub.Registered()[0].unit, "nats");
  EXPECT_EQ(hub.Registered()[0].direction, -1);
}

TEST(MetricsHub, RegistersHostMetricsFromTheTable) {
  MetricsHub hub;
  hub.Register("data/first_oom");
  hub.Record("device/peak_mb", 5);
  EXPECT_THAT(hub.Take(true), ElementsAre(Pair("device/peak_mb", 5.0))) << "differs from run to run";
  EXPECT_THAT(hub.Take(false), IsEmpty());
  ASSERT_EQ(hub.Registered().size(), 2u);
  EXPECT_EQ(hub.Registered()[0].name, "data/first_oom");
  EXPECT_EQ(hub.Registered()[1].unit, "MiB");
  EXPECT_EQ(hub.Registered()[1].direction, -1);
}

TEST(MetricsHub, RegisteringTwiceGivesTheSameHandle) {
  MetricsHub hub;
  EXPECT_EQ(hub.Add(false, {"a", "", "", 0}), hub.Add(false, {"a", "", "", 0}));
  hub.Record(99, 1);  // an unknown handle is ignored
  EXPECT_THAT(hub.Take(false), IsEmpty());
}

}  // namespace
}  // namespace backplane
