#include "config/line_pattern.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<double> Numbers(const std::string& pattern, const std::string& line) {
  std::string why_not;
  const auto made = LinePattern::Make(pattern, &why_not);
  EXPECT_TRUE(made) << why_not;
  return made ? made->NumbersIn(line) : std::vector<double>();
}

std::string WhyNot(const std::string& pattern) {
  std::string why_not;
  EXPECT_FALSE(LinePattern::Make(pattern, &why_not)) << pattern;
  return why_not;
}

TEST(LinePattern, FindsTheNumbersOfItsGroup) {
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "step=3, return=-1.5"), ElementsAre(-1.5));
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "return=1 and return=2."), ElementsAre(1, 2));
  EXPECT_THAT(Numbers(R"(ep_rew_mean\s*\|\s*(\S+))", "|    ep_rew_mean     | 9.8e+01  |"), ElementsAre(98));
  EXPECT_THAT(Numbers("loss: (.*)$", "loss: 0.5."), ElementsAre(0.5)) << "a full stop";
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "nothing"), IsEmpty());
}

// The beginning by which lines are passed over may be no part of a match.
TEST(LinePattern, WhatMayBeLeftOutOfItsBeginningNeedNotBeThere) {
  EXPECT_THAT(Numbers("ab?=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("ab*=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("ab{0,1}=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("x([0-9])|yz", "yz"), testing::SizeIs(1));
  EXPECT_THAT(Numbers("(?:loss|cost)=([0-9])", "cost=1"), ElementsAre(1));
}

TEST(LinePattern, WhatIsNoNumberIsNone) {
  EXPECT_TRUE(std::isnan(Numbers("return=(\\w+)", "return=nan").at(0)));
  EXPECT_TRUE(std::isnan(Numbers("return=(\\S+)", "return=1.2.3").at(0)));
}

TEST(LinePattern, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(WhyNot("([0-9]"), HasSubstr("wanted a regular expression, found '([0-9]'"));
  EXPECT_THAT(WhyNot("[0-9]+"), HasSubstr("wanted one group, the number, as in 'return=([-0-9.]+)', found 0"));
  EXPECT_THAT(WhyNot("(a)(b)"), HasSubstr("found 2"));
  EXPECT_THAT(WhyNot(std::string(500000, '(')), HasSubstr("wanted a pattern of at most 1000 bytes"));
  EXPECT_THAT(WhyNot("(a{99999}){99999}"), HasSubstr("wanted a regular expression"));
}

TEST(LinePattern, ALongLineTakesNoStack) {
  EXPECT_THAT(Numbers("x.*=([0-9])", "x" + std::string(10 << 20, 'y') + "=1"), IsEmpty());
  EXPECT_THAT(Numbers("(?:a|b)*=([0-9])", std::string(4000, 'a') + "=1"), ElementsAre(1));
}

}  // namespace
}  // namespace backplane
