#include "command/event_follower.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tf_events/tf_events.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class EventFollowerTest : public testing::Test {
 protected:
  ~EventFollowerTest() override { std::filesystem::remove_all(folder_); }

  std::vector<Report> Take(EventFollower* follower, bool finish = false) {
    std::vector<Report> reports;
    const auto use = [&](const Report& report) { reports.push_back(report); };
    finish ? follower->Finish(use) : follower->Look(use);
    return reports;
  }
  // The pause between two walks through the folder depends on the machine.
  std::vector<Report> Await(EventFollower* follower) {
    std::vector<Report> reports;
    for (int i = 0; i < 10'000 && reports.empty(); ++i) {
      usleep(1000);
      reports = Take(follower);
    }
    return reports;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("event_follower_" + std::to_string(getpid()));
};

TEST_F(EventFollowerTest, ScalarsOfAStepAreOneReport) {
  EventFollower follower(folder_, "runs/**");
  EXPECT_THAT(Take(&follower), IsEmpty()) << "no file yet";
  TfEventFile file(folder_ / "runs/ppo" / TfFileName(1, 1), 1.0);
  file.Scalar(1.0, 10, "losses/value", 0.5);
  file.Scalar(1.0, 10, "charts/episodic_return", 21);
  file.Scalar(1.0, 20, "losses/value", 0.25);
  file.Flush();
  auto reports = Await(&follower);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].step, 10u);
  EXPECT_THAT(reports[0].values, ElementsAre(Pair("losses/value", 0.5), Pair("return", 21)));
  reports = Take(&follower);
  ASSERT_EQ(reports.size(), 1u) << "no later step follows, so it is complete";
  EXPECT_EQ(reports[0].step, 20u);
  file.Scalar(1.0, 20, "losses/value", 1);
  file.Scalar(1.0, 20, "losses/value", 2);
  file.Flush();
  EXPECT_EQ(Take(&follower, /*finish=*/true).size(), 2u) << "a repeated name begins a new report";
}

TEST_F(EventFollowerTest, IgnoresOtherFiles) {
  TfEventFile other(folder_ / "other" / TfFileName(1, 1), 1.0);
  other.Scalar(1.0, 1, "x", 1);
  other.Flush();
  EventFollower follower(folder_, "runs/**");
  EXPECT_THAT(Take(&follower, /*finish=*/true), IsEmpty());
}

}  // namespace
}  // namespace backplane
