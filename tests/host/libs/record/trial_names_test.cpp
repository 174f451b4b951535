#include "record/trial_names.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::ElementsAre;

std::vector<std::string> Names(const std::vector<std::string>& points, const std::vector<uint64_t>& seeds = {0}) {
  std::vector<PlanLine> plan;
  for (const std::string& point : points) {
    for (const uint64_t seed : seeds) {
      PlanLine& line = plan.emplace_back();
      line.name = point, line.seed = seed;
    }
  }
  return ShortTrialNames(plan);
}

TEST(TrialNames, NameTheirAxes) {
  EXPECT_THAT(Names({"lr=0.003 num_epochs=6", "lr=0.01 num_epochs=3"}),
              ElementsAre("lr=0.003 num_epochs=6", "lr=0.01 num_epochs=3"));
  EXPECT_THAT(Names({"lr=0.1", "lr=0.2"}), ElementsAre("lr=0.1", "lr=0.2"));
}

TEST(TrialNames, LoseWhatAllShareAndHaveTheirOwnNameFirst) {
  EXPECT_THAT(Names({"lr=0.1 before", "lr=0.1 after"}), ElementsAre("before", "after"));
  EXPECT_THAT(Names({"lr=0.1 gamma=1 before", "lr=0.2 gamma=2 before", "lr=0.1 gamma=1 after"}),
              ElementsAre("before lr=0.1 gamma=1", "before lr=0.2 gamma=2", "after lr=0.1 gamma=1"));
}

TEST(TrialNames, HaveASeedIfThereAreSeveral) {
  EXPECT_THAT(Names({"a=1 b=1", "a=2 b=2"}, {3, 4}),
              ElementsAre("a=1 b=1 seed=3", "a=1 b=1 seed=4", "a=2 b=2 seed=3", "a=2 b=2 seed=4"));
  EXPECT_THAT(Names({""}, {3, 4}), ElementsAre("seed=3", "seed=4"));
}

TEST(TrialNames, AreNeverAlikeOrEmpty) {
  EXPECT_THAT(Names({"lr=0.1"}), ElementsAre("lr=0.1")) << "all of one is shared";
  EXPECT_THAT(Names({"lr=0.1", "lr=0.1 lr=0.1 b=2", "b=2"}), testing::Contains("lr=0.1"));
}

}  // namespace
}  // namespace backplane
