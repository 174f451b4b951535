#include "record/trial_names.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::ElementsAre;

TrialNames Names(const std::vector<std::string>& points, const std::vector<uint64_t>& seeds = {0}) {
  std::vector<PlanLine> plan;
  for (const std::string& point : points) {
    for (const uint64_t seed : seeds) {
      PlanLine& line = plan.emplace_back();
      line.name = point, line.seed = seed;
    }
  }
  return ShortTrialNames(plan);
}

TEST(TrialNames, OfSeveralAxesAreValuesAlone) {
  const TrialNames names =
      Names({"num_env_runners=1 num_envs_per_env_runner=2", "num_env_runners=2 num_envs_per_env_runner=1"});
  EXPECT_EQ(names.heading, "num_env_runners x num_envs_per_env_runner");
  EXPECT_THAT(names.names, ElementsAre("1 x 2", "2 x 1"));
}

TEST(TrialNames, OfOneAxisKeepTheirKey) {
  EXPECT_THAT(Names({"lr=0.1", "lr=0.2"}).names, ElementsAre("lr=0.1", "lr=0.2"));
  EXPECT_EQ(Names({"lr=0.1", "lr=0.2"}).heading, "trial");
}

TEST(TrialNames, LoseWhatAllShareAndHaveTheirOwnNameFirst) {
  EXPECT_THAT(Names({"lr=0.1 before", "lr=0.1 after"}).names, ElementsAre("before", "after"));
  EXPECT_THAT(Names({"lr=0.1 gamma=1 before", "lr=0.2 gamma=2 before", "lr=0.1 gamma=1 after"}).names,
              ElementsAre("before 0.1 x 1", "before 0.2 x 2", "after 0.1 x 1"));
}

TEST(TrialNames, HaveASeedWhereThereAreSeveral) {
  EXPECT_THAT(Names({"a=1 b=1", "a=2 b=2"}, {3, 4}).names,
              ElementsAre("1 x 1 seed=3", "1 x 1 seed=4", "2 x 2 seed=3", "2 x 2 seed=4"));
  EXPECT_THAT(Names({""}, {3, 4}).names, ElementsAre("seed=3", "seed=4"));
}

TEST(TrialNames, AreNeverAlikeOrEmpty) {
  EXPECT_THAT(Names({"lr=0.1"}).names, ElementsAre("lr=0.1")) << "all of one is shared";
  EXPECT_THAT(Names({"lr=0.1", "lr=0.1 lr=0.1 b=2", "b=2"}).names, testing::Contains("lr=0.1"));
}

}  // namespace
}  // namespace backplane
