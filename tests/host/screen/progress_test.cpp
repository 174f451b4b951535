#include "screen/progress.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

StatusFile Status() {
  StatusFile status{};
  std::strcpy(status.phase, "learn");
  status.iteration = 12;
  status.env_steps = 49152;
  status.progress = 0.1638;
  status.sps = 12345;
  status.episode_return = NAN;
  return status;
}

std::string Shown(const Screen& screen, double elapsed_s) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress(file, screen, {.env_steps = 300000});
    progress.Update(Status(), elapsed_s);
    progress.Update(Status(), elapsed_s + 1);
  }
  std::fseek(file, 0, SEEK_SET);
  char text[4096] = {};
  [[maybe_unused]] const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  return text;
}

TEST(Progress, LineHoldsTheFigures) {
  const std::string line = FormatProgress(Status(), {.iterations = 73, .env_steps = 300000}, 12, 63, 200);
  for (const char* part :
       {"learn", "iteration 12/73", "49,152/300,000 steps  16 %", "12,345 steps/s", "0:12, about 1:03 left"}) {
    EXPECT_THAT(line, HasSubstr(part));
  }
  EXPECT_THAT(line, Not(HasSubstr("return"))) << "no episode has ended yet";
}

TEST(Progress, ShowsMeasuresOfOutputLiveAfterTheSteps) {
  StatusFile status = Status();
  std::strcpy(status.live[0].name, "ep/success_rate");
  status.live[0].value = 0.91;
  std::strcpy(status.live[1].name, "eval/return");
  status.live[1].value = NAN;
  const std::string line = FormatProgress(status, {.env_steps = 300000}, 12, 63, 200);
  EXPECT_THAT(line, HasSubstr("steps  16 %  success_rate 0.91  12,345 steps/s"));
  EXPECT_THAT(line, Not(HasSubstr("eval"))) << "no value yet";
  EXPECT_EQ(FormatProgress(status, {.env_steps = 300000}, 12, 63, 79),
            "learn     16 %  success_rate 0.91  12,345 steps/s  0:12, about 1:03 left");
}

TEST(Progress, MeasureNamedLikeTheReturnKeepsItsWholeName) {
  EXPECT_EQ(LiveHeading("eval/return", {{"eval/return", 0.5}}), "eval/return");
  EXPECT_EQ(LiveHeading("ep/length", {{"ep/length", 7}}), "length");
}

TEST(Progress, DropsDefaultMeasuresFirst) {
  StatusFile status = Status();
  std::strcpy(status.live[0].name, "resources/gpu_util_pct");
  status.live[0].value = 40, status.live[0].added = 1;
  EXPECT_THAT(FormatProgress(status, {.env_steps = 300000}, 12, 63, 200),
              testing::EndsWith("0:12, about 1:03 left  gpu_util_pct 40 (target 90)"));
  EXPECT_THAT(FormatProgress(status, {.env_steps = 300000}, 12, 63, 100), testing::EndsWith("about 1:03 left"));
}

TEST(Progress, NarrowScreenLosesWholeFields) {
  const std::string line = FormatProgress(Status(), {.env_steps = 300000}, 12, 63, 40);
  EXPECT_LE(line.size(), 40u);
  EXPECT_EQ(line, "learn     16 %  0:12, about 1:03 left");
}

// However much of the line the budget takes.
TEST(Progress, EightyColumnsHaveTheReturnAndTheTimeLeft) {
  StatusFile status = Status();
  status.episode_return = -1234.56;
  status.env_steps = 99999999;
  const std::string line = FormatProgress(status, {.iterations = 100000, .env_steps = 100000000}, 36000, 72000, 79);
  EXPECT_LE(line.size(), 79u);
  EXPECT_THAT(line, HasSubstr("return -1235  10:00:00, about 20:00:00 left"));
}

TEST(Progress, PrintsPlainLinesWithoutATerminal) {
  const std::string text = Shown({.live = false}, 5);
  EXPECT_EQ(1, std::count(text.begin(), text.end(), '\n')) << "the second update came within 30 s";
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Progress, NoColourMeansNoColourEscapes) {
  EXPECT_THAT(Shown({.live = true, .colour = false}, 5), Not(HasSubstr("\x1b[36m")));
  EXPECT_THAT(Shown({.live = true, .colour = true}, 5), HasSubstr("\x1b[36m"));
}

TEST(Progress, Durations) {
  EXPECT_EQ("0:05", FormatClock(5.2));
  EXPECT_EQ("1:02:03", FormatClock(3723));
}

}  // namespace
}  // namespace backplane
