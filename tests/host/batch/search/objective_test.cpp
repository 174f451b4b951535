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

// By hand: 7 and 8 reach 7 in two evaluations in a row, after 400 env steps.
TEST_F(ObjectiveTest, CountsTheStepsToAGoalOverAllAttempts) {
  const auto line = [](int iteration, double value) {
    std::string text = Line(iteration, value);
    return text.replace(text.find("\"step\":1"), 8, "\"step\":" + std::to_string(100 * iteration));
  };
  Add(1, line(1, 7) + line(2, 3) + line(3, 7) + line(4, 1));
  Add(2, line(4, 8) + line(5, 2));
  const auto write = [&](const std::string& until) {
    std::ofstream(trial_.attempt(2).result())
        << R"({"state":"COMPLETED","iterations":6,"env_steps":600,"evaluated_at":6,"evaluation":{"return":{"mean":20,"n":5},"metrics":{}},)"
        << until
        << R"("metrics_parts":[{"attempt":1,"lines":3,"bytes":1,"crc32c":0},{"attempt":2,"lines":2,"bytes":1,"crc32c":0}]})";
  };
  write(R"("until":{"metric":"eval/return","value":7,"for":2,"direction":1,"reached":true,"iteration":4,"env_steps":400},)");
  EXPECT_EQ(ObjectiveOf(trial_.attempt(2), "steps_to(eval/return, 7)"), 400);
  write("");
  EXPECT_EQ(ObjectiveOf(trial_.attempt(2), "steps_to(eval/return, 7)"), 100) << "one evaluation is enough";
  EXPECT_EQ(ObjectiveOf(trial_.attempt(2), "steps_to(eval/return, 20)"), 600) << "the evaluation at the end";
  EXPECT_EQ(ObjectiveOf(trial_.attempt(2), "steps_to(eval/return, 21)"), 600) << "never: a lower bound";
  EXPECT_FALSE(ObjectiveOf(trial_.attempt(2), "steps_to(eval/score, 7)"));
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
