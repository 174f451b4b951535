// Values that a search receives of a trial, read from the trial's files.
#include "search/objective.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace backplane {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ObjectiveTest : public testing::Test {
 protected:
  ObjectiveTest() : trial_{fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()} {
    fs::remove_all(trial_.folder);
    fs::create_directories(trial_.attempt(1).folder);
  }
  ~ObjectiveTest() override { fs::remove_all(trial_.folder); }

  void Add(unsigned attempt, const std::string& text) {
    fs::create_directories(trial_.attempt(attempt).folder);
    std::ofstream(trial_.attempt(attempt).metrics(), std::ios::app) << text;
  }
  static std::string Line(int iteration, double value) {
    return R"({"iteration":)" + std::to_string(iteration) + R"(,"step":1,"eval":{"return":{"mean":)" + std::to_string(value) +
           R"(,"n":5},"metrics":{}}})" + "\n";
  }
  std::vector<std::pair<uint64_t, double>> Read(MetricFollower* follower, size_t most = 100) {
    std::vector<std::pair<uint64_t, double>> values;
    follower->Read([&](uint64_t step, double value) {
      values.emplace_back(step, value);
      return values.size() < most;
    });
    return values;
  }

  TrialFolder trial_;
};

TEST_F(ObjectiveTest, ReadsEachValueOnceAndATornLineLater) {
  MetricFollower follower(trial_, "eval/return");
  EXPECT_THAT(Read(&follower), IsEmpty());
  const std::string third = Line(3, 9);
  Add(1, Line(0, 5) + Line(1, 7) + "{\"iteration\":2,\"step\":3}\n" + third.substr(0, 20));
  EXPECT_THAT(Read(&follower), ElementsAre(Pair(1u, 7.0))) << "iteration 0 learned nothing, 2 was not evaluated";
  Add(1, third.substr(20));
  EXPECT_THAT(Read(&follower), ElementsAre(Pair(3u, 9.0)));
  EXPECT_THAT(Read(&follower), IsEmpty());
}

TEST_F(ObjectiveTest, SkipsIterationsThatALaterAttemptRepeats) {
  MetricFollower follower(trial_, "eval/return");
  Add(1, Line(1, 1) + Line(2, 2));
  Add(2, Line(2, 2) + Line(3, 3));
  EXPECT_THAT(Read(&follower), ElementsAre(Pair(1u, 1.0), Pair(2u, 2.0), Pair(3u, 3.0)));
  MetricFollower later(trial_, "eval/return");
  later.Skip(2);
  EXPECT_THAT(Read(&later), ElementsAre(Pair(3u, 3.0)));
}

TEST_F(ObjectiveTest, StopsReadingAtTheLimit) {
  MetricFollower follower(trial_, "eval/return");
  Add(1, Line(1, 1) + Line(2, 2));
  EXPECT_THAT(Read(&follower, 1), ElementsAre(Pair(1u, 1.0)));
  Add(1, Line(3, 3));
  EXPECT_THAT(Read(&follower), IsEmpty());
}

// A metric diverged if it was finite first and is not in the last tenth of the iterations (at least 3).
TEST_F(ObjectiveTest, IsTheResultsMeanElseTheLastFiniteValueUnlessItDiverged) {
  Add(1, R"({"iteration":1,"metrics":{"loss":4,"odd":1,"never":null}})"
         "\n"
         R"({"iteration":2,"metrics":{"loss":2,"odd":null,"never":null}})"
         "\n");
  std::ofstream(trial_.attempt(1).result())
      << R"({"state":"COMPLETED","evaluation":{"return":{"mean":12,"n":3},"metrics":{}}})";
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "eval/return"), 12);
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "loss"), 2);
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "odd"), 1);
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "never"), std::nullopt);
  for (int i = 3; i < 5; ++i) Add(1, R"({"iteration":)" + std::to_string(i) + R"(,"metrics":{"loss":1,"odd":null}})" + "\n");
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "loss"), 1);
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "odd"), std::nullopt) << "it diverged";
  EXPECT_EQ(ObjectiveOf(trial_.attempt(1), "unheard_of"), std::nullopt);
}

}  // namespace
}  // namespace backplane
