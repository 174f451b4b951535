#include "contract/line_pattern.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<double> Numbers(const std::string& pattern, const std::string& line) {
  PatternError error;
  const auto made = LinePattern::Make(pattern, &error);
  EXPECT_TRUE(made) << error.sentence;
  return made ? made->NumbersIn(line) : std::vector<double>();
}

PatternError ErrorOf(const std::string& pattern) {
  PatternError error;
  EXPECT_FALSE(LinePattern::Make(pattern, &error)) << pattern;
  return error;
}

std::string WhyNot(const std::string& pattern) { return ErrorOf(pattern).sentence; }

TEST(LinePattern, FindsTheNumbersOfItsGroup) {
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "step=3, return=-1.5"), ElementsAre(-1.5));
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "return=1 and return=2."), ElementsAre(1, 2));
  EXPECT_THAT(Numbers(R"(ep_rew_mean\s*\|\s*(\S+))", "|    ep_rew_mean     | 9.8e+01  |"), ElementsAre(98));
  EXPECT_THAT(Numbers("loss: (.*)$", "loss: 0.5."), ElementsAre(0.5)) << "a full stop";
  EXPECT_THAT(Numbers("return=([-0-9.]+)", "nothing"), IsEmpty());
}

// Lines are skipped by a literal prefix, which must not contain optional characters.
TEST(LinePattern, AllowsTextWithoutAnOptionalBeginning) {
  EXPECT_THAT(Numbers("ab?=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("ab*=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("ab{0,1}=([0-9])", "a=1"), ElementsAre(1));
  EXPECT_THAT(Numbers("x([0-9])|yz", "yz"), testing::SizeIs(1));
  EXPECT_THAT(Numbers("(?:loss|cost)=([0-9])", "cost=1"), ElementsAre(1));
}

TEST(LinePattern, ReadsOnlyNumbers) {
  EXPECT_TRUE(std::isnan(Numbers("return=(\\w+)", "return=nan").at(0)));
  EXPECT_TRUE(std::isnan(Numbers("return=(\\S+)", "return=1.2.3").at(0)));
}

TEST(LinePattern, ReportsErrorsOfPatterns) {
  EXPECT_THAT(WhyNot("([0-9]"), HasSubstr("expected a regular expression of RE2, got '([0-9]'"));
  EXPECT_THAT(WhyNot("[0-9]+"), HasSubstr("expected one group around the number, as in 'return=([-0-9.]+)', got 0"));
  EXPECT_THAT(WhyNot("(a)(b)"), HasSubstr("got 2"));
  EXPECT_THAT(WhyNot(std::string(500000, '(')), HasSubstr("expected a pattern of at most 1000 bytes"));
  EXPECT_THAT(WhyNot("(a{99999}){99999}"), HasSubstr("expected a regular expression"));
}

TEST(LinePattern, PlacesConstructsThatRe2Lacks) {
  const auto at = [](const std::string& pattern) { return ErrorOf(pattern).at; };
  EXPECT_EQ(at("loss=(?=[0-9])([0-9])"), 5u);
  EXPECT_EQ(at("loss=(?![a-z])([0-9])"), 5u);
  EXPECT_EQ(at("(?<=loss=)([0-9])"), 0u);
  EXPECT_EQ(at("a(?<!loss=)([0-9])"), 1u);
  EXPECT_EQ(at("([0-9]) of \\1"), 11u);
  EXPECT_EQ(at("[(?=]\\(?=(?=x)([0-9])"), 9u) << "neither in brackets nor escaped";
  EXPECT_EQ(at("[]a]\\\\1[\\1]([0-9])"), 8u);
  EXPECT_EQ(at("a([0-9])**"), 8u);
}

TEST(LinePattern, NamesConstructsThatRe2Lacks) {
  EXPECT_THAT(WhyNot("(?=a)([0-9])"), HasSubstr("lookaround '(?=' is not supported"));
  EXPECT_THAT(WhyNot("(?!a)([0-9])"), HasSubstr("lookaround '(?!' is not supported"));
  EXPECT_THAT(WhyNot("(?<=a)([0-9])"), HasSubstr("lookaround '(?<=' is not supported"));
  EXPECT_THAT(WhyNot("(?<!a)([0-9])"), HasSubstr("lookaround '(?<!' is not supported"));
  EXPECT_THAT(WhyNot("([0-9])\\1"), HasSubstr("backreference '\\1' is not supported"));
  EXPECT_THAT(WhyNot("([0-9])\\k<n>"), HasSubstr("backreference '\\k' is not supported"));
  EXPECT_THAT(WhyNot("(?<n>[0-9])"), HasSubstr("write a named group as (?P<name>...)"));
}

// A backtracking matcher would exceed the age of the universe, or its stack, for each of them.
TEST(LinePattern, EndsOnPatternsThatBacktrack) {
  const std::string line(LinePattern::kMostLine, 'a');
  for (const char* const pattern : {"(a+)+b", "(?:a|a)*(b)", "(?:a*)*([0-9])", "(?:a|aa)+([0-9])$", "(?:.*.*.*.*)*=([0-9])"})
    EXPECT_THAT(Numbers(pattern, line), IsEmpty()) << pattern;
  EXPECT_THAT(Numbers("(?:(?:(?:a|b|.)?){30}){33}([0-9])q", line), IsEmpty());
}

TEST(LinePattern, EndsOnLinesOfManyMatches) {
  const std::string line(LinePattern::kMostLine, '1');
  EXPECT_THAT(Numbers("([0-9])", line), testing::SizeIs(LinePattern::kMostLine));
  EXPECT_THAT(Numbers("([0-9])(?:.{0,900}q)?", line), testing::Each(1));
  EXPECT_THAT(Numbers("x*([0-9]?)", "12"), ElementsAre(1, 2, testing::IsNan())) << "an empty match moves on";
}

TEST(LinePattern, MatchesBytesOutsideUtf8) {
  EXPECT_THAT(Numbers("loss.*=([0-9])", "loss \xff\xfe =3"), ElementsAre(3));
  EXPECT_THAT(Numbers("R\xc3\xbc"
                      "ckgabe=([0-9])",
                      "R\xc3\xbc"
                      "ckgabe=3"),
              ElementsAre(3));
  EXPECT_THAT(Numbers("=([0-9])", std::string("a\0=3", 4)), ElementsAre(3));
}

TEST(LinePattern, ALongLineTakesNoStack) {
  EXPECT_THAT(Numbers("x.*=([0-9])", "x" + std::string(10 << 20, 'y') + "=1"), IsEmpty());
  EXPECT_THAT(Numbers("(?:a|b)*=([0-9])", std::string(4000, 'a').append("=1")), ElementsAre(1));
}

}  // namespace
}  // namespace backplane
