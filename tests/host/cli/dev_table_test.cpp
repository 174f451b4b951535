#include "cli/dev_table.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::HasSubstr;

BuildMeasures Build(unsigned number, std::optional<double> episode_return) {
  BuildMeasures build{.build = number};
  build.iterations = 10;
  build.steps_per_s = 1000;
  build.episode_return = episode_return;
  return build;
}

TEST(DevTable, ComparesByPercentOrByDifference) {
  const auto change = [](double before, double now) {
    const BuildMeasures a = Build(1, before);
    const std::string text = FormatBuilds(&a, Build(2, now)), row = text.substr(text.find("\nreturn") + 1);
    return row.substr(row.find_last_of(' ', row.find('\n') - 3) + 1);  // with a blank before "%"
  };
  EXPECT_EQ(change(40, 60), "+50.0 %\n");
  EXPECT_EQ(change(40, -60), "-250.0 %\n");
  EXPECT_EQ(change(-1200, -300), "+900\n") << "negative returns";
  EXPECT_EQ(change(-300, -1200), "-900\n");
  EXPECT_EQ(change(0, 2.5), "+2.5\n");
}

TEST(DevTable, BeginsWithTheBuildThatRuns) {
  EXPECT_THAT(FormatRunning(nullptr, 1), testing::ContainsRegex("^ +build 1\niterations +running\n$"));
  const BuildMeasures before = Build(1, 5);
  EXPECT_THAT(FormatRunning(&before, 2), testing::ContainsRegex("^ +build 1 +build 2 +change\niterations +10 +running\n$"));
}

}  // namespace
}  // namespace backplane
