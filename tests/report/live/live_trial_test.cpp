#include "live/live_trial.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

class LiveTrialTest : public testing::Test {
 protected:
  LiveTrialTest() { std::filesystem::create_directories(folder_.attempt(1).folder); }
  ~LiveTrialTest() override { std::filesystem::remove_all(folder_.folder); }

  void Write(const std::string& lines) { std::ofstream(folder_.attempt(1).metrics()) << lines; }
  std::vector<double> ValuesOf(const std::string& name) {
    LiveTrial trial(folder_);
    trial.Read(1, 1 << 20);
    std::vector<double> values;
    if (const auto curve = trial.curves().find(name); curve != trial.curves().end())
      for (const ThinSeries::Point& point : curve->second.Points()) values.push_back(point.value);
    return values;
  }

  const TrialFolder folder_{std::filesystem::path(testing::TempDir()) / ("live_trial_" + std::to_string(getpid()))};
};

TEST_F(LiveTrialTest, SharesOfPhasesAreOfTheTimeBetweenIterations) {
  // 100 steps at 200 a second are 0.5 s of an iteration of 2 s; before the third one ends, 2 s went into an evaluation.
  Write(R"({"iteration":1,"step":100,"time":{"t":2,"iteration_s":2,"sampling_sps":200}}
{"iteration":2,"step":200,"time":{"t":4,"iteration_s":2,"sampling_sps":200}}
{"iteration":3,"step":300,"time":{"t":8,"iteration_s":2,"sampling_sps":200}}
)");
  EXPECT_THAT(ValuesOf(kCollectingPct), ElementsAre(DoubleNear(25, 1e-4), DoubleNear(25, 1e-4), DoubleNear(12.5, 1e-4)));
  EXPECT_THAT(ValuesOf(kEvaluatingPct), ElementsAre(DoubleNear(50, 1e-4)));
}

TEST_F(LiveTrialTest, WithoutAnEvaluationThereIsNoCurveOfOne) {
  Write(R"({"iteration":1,"step":100,"time":{"t":2,"iteration_s":2,"sampling_sps":200}}
{"iteration":2,"step":200,"time":{"t":4,"iteration_s":2,"sampling_sps":200}}
)");
  EXPECT_THAT(ValuesOf(kEvaluatingPct), ElementsAre());
}

}  // namespace
}  // namespace backplane
