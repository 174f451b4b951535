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

TEST(MetricsHub, RegisteringTwiceGivesTheSameHandle) {
  MetricsHub hub;
  EXPECT_EQ(hub.Add(false, {"a", "", "", 0}), hub.Add(false, {"a", "", "", 0}));
  hub.Record(99, 1);  // an unknown handle is ignored
  EXPECT_THAT(hub.Take(false), IsEmpty());
}

}  // namespace
}  // namespace backplane
