#include "cli/suggest.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kCommands = {"config", "doctor", "plugin", "run", "run-trial"};

TEST(Suggest, NearestNameComesFirst) { EXPECT_THAT(Suggestions("runn", kCommands), ElementsAre("run")); }

TEST(Suggest, BeginningOfALongNameCounts) { EXPECT_THAT(Suggestions("run-", kCommands), ElementsAre("run", "run-trial")); }

TEST(Suggest, SaysNothingWhenNothingIsNear) { EXPECT_THAT(Suggestions("frobnicate", kCommands), IsEmpty()); }

TEST(Suggest, NeverMoreThanThreeNames) { EXPECT_EQ(3u, Suggestions("aaa", {"aab", "aac", "aad", "aae", "aaf"}).size()); }

TEST(Suggest, MakesASentence) {
  EXPECT_EQ("; did you mean 'plugin'?", DidYouMean("plugni", {"config", "plugin"}));
  EXPECT_EQ("", DidYouMean("xyz", {"config", "plugin"}));
}

}  // namespace
}  // namespace backplane
