#include "screen/summary.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "base/text_columns.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

const SummaryContext kContext = {"toy", "out", "out/trials/x/attempt-1", {"backplane run toy.yaml"}};

// Student's 97.5 % quantile with 9 degrees of freedom is 2.262.
TEST(Summary, ComparesLearnedWithBothFloors) {
  const TrialResult result = ReadTolerantly<TrialResult>(nlohmann::json::parse(R"({
    "state": "COMPLETED", "trial_id": "x", "sps": 12345.4, "iterations": 3,
    "evaluation": {"return": {"mean": 812.4, "sd": 30, "se": 10.5, "n": 10}, "metrics": {"ep/forward": {"mean": 5.5, "se": 1, "n": 10}}},
    "floor_zero": {"return": {"mean": 95.5, "se": 2, "n": 10}, "metrics": {"ep/forward": {"mean": 0.25, "se": 0, "n": 10}}},
    "floor_uniform": {"return": {"mean": -48, "se": 27, "n": 10}, "metrics": {"ep/forward": {"mean": 0.5, "se": 0.1, "n": 10}}}})"));
  const std::string text = FormatSummary(result, kContext);
  EXPECT_THAT(text, HasSubstr("12,345 steps/s"));
  EXPECT_THAT(text, HasSubstr("\n"
                              "  mean ± 95 %  learned (evaluation)  floor (zero)  floor (uniform)\n"
                              "  return       812.4 ± 23.8          95.50 ± 4.52  -48.0 ± 61.1\n"
                              "  ep/forward   5.50 ± 2.26           0.25 ± 0      0.500 ± 0.226\n"
                              "  episodes     10                    10            10\n"));
}

TEST(Summary, PrintsUnequalNumbersOfEpisodesInTheCells) {
  const std::string text =
      FormatSummary(ReadTolerantly<TrialResult>(nlohmann::json::parse(R"({"state": "COMPLETED", "evaluation": {
    "return": {"mean": 1, "se": 2, "n": 10}, "metrics": {"ep/rare": {"mean": 3, "n": 4}}}})")),
                    kContext);
  EXPECT_THAT(text, HasSubstr("return       1.00 ± 4.52 (n 10)\n  ep/rare      3 (n 4)\n"));
}

size_t Widest(const std::string& text) {
  std::istringstream lines(text);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, Columns(line));
  }
  return widest;
}

TEST(Summary, FitsEightyColumnsWithoutLosingNumbers) {
  nlohmann::json side = {{"return", {{"mean", -12345.678}, {"se", 1234.5}, {"n", 1000}}}};
  side["metrics"]["ep/a_metric_with_a_long_name_of_its_own"] = {{"mean", 1.2345e-5}, {"se", 1.25e-6}, {"n", 999}};
  const std::string text = FormatSummary(ReadTolerantly<TrialResult>(nlohmann::json{{"state", "COMPLETED"},
                                                                                    {"trial_id", "0123456789abcdef"},
                                                                                    {"iterations", 123456},
                                                                                    {"env_steps", 15000000000},
                                                                                    {"episodes", 12345678},
                                                                                    {"wall_s", 40000},
                                                                                    {"trial_s", 400000},
                                                                                    {"sps", 123456789},
                                                                                    {"sampling_sps", 1234567890},
                                                                                    {"evaluation", side},
                                                                                    {"floor_zero", side},
                                                                                    {"floor_uniform", side}}),
                                         kContext);
  EXPECT_LE(Widest(text), 80u) << text;
  size_t cells = 0;
  for (size_t at = 0; (at = text.find("1.234e-5 ± 2.45e-6 (n 999)", at)) != std::string::npos; ++at) {
    ++cells;
  }
  EXPECT_EQ(3u, cells) << text;
}

TEST(Summary, OmitsTheColumnOfAnUnmeasuredFloor) {
  const std::string text = FormatSummary(ReadTolerantly<TrialResult>(nlohmann::json::parse(R"({"state": "COMPLETED",
    "evaluation": {"return": {"mean": 1, "n": 1}}, "floor_zero": {"return": {"mean": 0, "n": 1}}, "floor_uniform": null})")),
                                         kContext);
  EXPECT_THAT(text, HasSubstr("floor (zero)\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("uniform")));
}

TEST(Summary, SumsTheTimeOfAllAttempts) {
  const auto text = [](double trial_s) {
    return FormatSummary(
        ReadTolerantly<TrialResult>(nlohmann::json{{"state", "COMPLETED"}, {"wall_s", 60}, {"trial_s", trial_s}}), kContext);
  };
  EXPECT_THAT(text(60), HasSubstr("in 1:00\n"));
  EXPECT_THAT(text(90), HasSubstr("in 1:30, 1:00 of it in this attempt\n"));
}

TEST(Summary, SharesSumToAHundredPercent) {
  const TrialResult result = ReadTolerantly<TrialResult>(nlohmann::json::parse(R"({"state": "COMPLETED", "phases": [
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

TEST(Summary, FailureNamesCausePlaceAndCommand) {
  const TrialResult result = ReadTolerantly<TrialResult>(nlohmann::json{{"state", "FAILED"},
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

TEST(Summary, PrintsTheReasonOnce) {
  const std::string sentence = "learner.toy: the env has 3 actions and this learner can only serve 2 of them, sorry to say";
  const std::string text = FormatFailure(ReadTolerantly<TrialResult>(nlohmann::json{{"state", "FAILED"},
                                                                                    {"outcome", "config"},
                                                                                    {"error", "the trial: " + sentence},
                                                                                    {"log_tail", {"loading", sentence}}}),
                                         kContext);
  EXPECT_THAT(text, HasSubstr("  why          the trial: " + sentence + "\n  last lines   loading\n"))
      << "not wrapped, so copied text stays whole";
  EXPECT_EQ(text.find("sorry to say"), text.rfind("sorry to say")) << text;
}

TEST(Summary, PrintsTheLinesOfATracebackOnce) {
  const std::string why = "env.toy: ValueError: no step (toy.py:3)\nTraceback:\n  toy.py, line 3\x1b[2J";
  const std::string text = FormatFailure(
      ReadTolerantly<TrialResult>(nlohmann::json{
          {"state", "FAILED"},
          {"outcome", "plugin"},
          {"error", why},
          {"log_tail", {"loading", "env.toy: ValueError: no step (toy.py:3)", "Traceback:", "  toy.py, line 3\x1b[2J"}}}),
      kContext);
  EXPECT_THAT(text, HasSubstr("  why          env.toy: ValueError: no step (toy.py:3)\n"
                              "               Traceback:\n"
                              "                 toy.py, line 3\\x1b[2J\n"
                              "  last lines   loading\n"));
}

TEST(Result, OddTypesCountAsAbsent) {
  const TrialResult result = ReadTolerantly<TrialResult>(nlohmann::json::parse(
      R"({"state": 5, "sps": "fast", "return": [], "floor_zero": null, "phases": {"a": 1}, "log_tail": 3, "metrics": {"m": "x"}})"));
  EXPECT_FALSE(result.state);
  EXPECT_FALSE(result.sps);
  EXPECT_FALSE(result.training.episode_return);
  EXPECT_TRUE(result.training.metrics.empty());
  EXPECT_TRUE(ReadTolerantly<TrialResult>(nullptr).phases.empty());
}

}  // namespace
}  // namespace backplane
