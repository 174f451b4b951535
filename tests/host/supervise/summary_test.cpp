#include "supervise/summary.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace backplane {
namespace {

using testing::HasSubstr;

const SummaryContext kContext = {"toy", "out", "out/trials/x/attempt-1", {"backplane run toy.yaml"}};

TEST(Summary, LearnedStandsBesideBothFloors) {
  const TrialResult result = ParseResult(nlohmann::json::parse(R"({
    "state": "COMPLETED", "trial_id": "x", "sps": 12345.4, "iterations": 3,
    "evaluation": {"return": {"mean": 812.4, "sd": 30, "se": 10.5, "n": 10}, "metrics": {"ep/forward": {"mean": 5.5, "se": 1, "n": 10}}},
    "floor_zero": {"return": {"mean": 95.5, "se": 2, "n": 10}, "metrics": {"ep/forward": {"mean": 0.25, "se": 0, "n": 10}}},
    "floor_uniform": {"return": {"mean": -48, "se": 27, "n": 10}, "metrics": {"ep/forward": {"mean": 0.5, "se": 0.1, "n": 10}}}})"));
  const std::string text = FormatSummary(result, kContext);
  EXPECT_THAT(text, HasSubstr("12,345 steps/s"));
  EXPECT_TRUE(std::regex_search(text, std::regex("learned \\(evaluation\\) +floor \\(zero actions\\) +floor \\(uniform\\)\n")))
      << text;
  EXPECT_TRUE(
      std::regex_search(text, std::regex("return +812.4 ± 10.5 \\(n 10\\) +95.5 ± 2 \\(n 10\\) +-48 ± 27 \\(n 10\\)\n")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("ep/forward +5.5 ± 1 .* 0.25 ± 0 .* 0.5 ± 0.1 "))) << text;
}

TEST(Summary, AFloorThatWasNotMeasuredHasNoColumn) {
  const std::string text = FormatSummary(ParseResult(nlohmann::json::parse(R"({"state": "COMPLETED",
    "evaluation": {"return": {"mean": 1, "n": 1}}, "floor_zero": {"return": {"mean": 0, "n": 1}}, "floor_uniform": null})")),
                                         kContext);
  EXPECT_THAT(text, HasSubstr("floor (zero actions)\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("uniform")));
}

TEST(Summary, ATrialOfSeveralAttemptsIsGivenItsWholeTime) {
  const auto text = [](double trial_s) {
    return FormatSummary(ParseResult({{"state", "COMPLETED"}, {"wall_s", 60}, {"trial_s", trial_s}}), kContext);
  };
  EXPECT_THAT(text(60), HasSubstr("in 1:00\n"));
  EXPECT_THAT(text(90), HasSubstr("in 1:30, 1:00 of them in this attempt\n"));
}

TEST(Summary, SharesSumToAHundredPercent) {
  const TrialResult result = ParseResult(nlohmann::json::parse(R"({"state": "COMPLETED", "phases": [
    {"name": "a", "seconds": 1, "share": 0.33333}, {"name": "b", "seconds": 1, "share": 0.33333},
    {"name": "c", "seconds": 1, "share": 0.33334}]})"));
  const std::string text = FormatSummary(result, kContext);
  const std::regex share("([0-9]+)\\.([0-9]) %");
  int tenths = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), share), end; at != end; ++at) {
    tenths += std::stoi((*at)[1]) * 10 + std::stoi((*at)[2]);
  }
  EXPECT_EQ(1000, tenths) << text;
}

TEST(Summary, FailureSaysWhatWhereAndHowToRepeat) {
  const TrialResult result = ParseResult({{"state", "FAILED"},
                                          {"outcome", "signal"},
                                          {"signal", "SIGSEGV"},
                                          {"phase", "step"},
                                          {"plugin", "env.toy"},
                                          {"error", "died of SIGSEGV"},
                                          {"log_tail", {"last words"}}});
  const std::string text = FormatFailure(result, kContext);
  for (const char* part : {"signal", "SIGSEGV", "step", "env.toy", "last words", "backplane run toy.yaml"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Result, OddTypesCountAsAbsent) {
  const TrialResult result = ParseResult(nlohmann::json::parse(
      R"({"state": 5, "sps": "fast", "return": [], "floor_zero": null, "phases": {"a": 1}, "log_tail": 3, "metrics": {"m": "x"}})"));
  EXPECT_EQ("", result.state);
  EXPECT_FALSE(result.sps);
  EXPECT_FALSE(result.training.episode_return);
  EXPECT_TRUE(result.training.metrics.empty());
  EXPECT_TRUE(ParseResult(nullptr).phases.empty());
}

}  // namespace
}  // namespace backplane
