#include "base/suggest.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

TEST(Suggest, TheNearestNamesComeFirst) {
  const std::vector<Candidate> names = Candidates({"threads", "thread_affinity", "three", "seed"});
  EXPECT_THAT(Nearest("thread", names), testing::ElementsAre("threads", "three")) << "one and two letters apart";
  EXPECT_THAT(Nearest("Seed", names), testing::ElementsAre("seed")) << "letters' case does not count";
  EXPECT_THAT(Nearest("zzzz", names), testing::IsEmpty());
}

// 10^12 steps, were they compared.
TEST(Suggest, WhatIsMuchLongerIsNotCompared) {
  const std::string word(1000000, 'x');
  EXPECT_THAT(Nearest(word, Candidates({word, "x"})), testing::IsEmpty());
  EXPECT_THAT(Nearest("xx", Candidates({word, "xy"})), testing::ElementsAre("xy"));
}

}  // namespace
}  // namespace backplane
