#include <gmock/gmock.h>

#include "trial/live_columns.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kNames = {"return", "ep/length", "ep/success_rate", "train/loss"};

TEST(LiveNames, AMistypedOneIsNamedWithItsPlaceAndTheNearest) {
  EXPECT_THAT(UnknownLive({"ep/sucess_rate", "train/loss"}, kNames, true, "fly.yaml:7:3"),
              ElementsAre("fly.yaml:7:3: output.live: no metric 'ep/sucess_rate'; did you mean 'ep/success_rate'?"));
}

TEST(LiveNames, AnEvaluationRepeatsWhatEpisodesHave) {
  EXPECT_THAT(UnknownLive({"eval/return", "eval/success_rate"}, kNames, true, ""), IsEmpty());
  EXPECT_THAT(UnknownLive({"eval/return"}, kNames, false, ""),
              ElementsAre("output.live: no metric 'eval/return', because evaluation.episodes is 0"));
}

}  // namespace
}  // namespace backplane
