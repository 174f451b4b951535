#include "live/live_trial.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

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

TEST_F(LiveTrialTest, PhasesAreThousandthsOfTheTimeBetweenLines) {
  Write(R"({"iteration":1,"step":100,"time":{"t":2,"phases":{"env_step":1,"infer":0.5,"idle":2.5}}}
{"iteration":2,"step":200,"time":{"t":5,"phases":{"env_step":3,"infer":3}}}
)");
  LiveTrial trial(folder_);
  trial.Read(1, 1 << 20);
  EXPECT_EQ(R"([[2,3],{"0":[250,500],"2":[625,0]}])", trial.PhasesJson({Phase::kEnvStep, Phase::kEval, Phase::kIdle}));
  EXPECT_EQ(R"([[2,3],{"0":[125,500]}])", trial.PhasesJson({Phase::kInfer})) << "a request for other curves reads it again";
  std::ofstream(folder_.attempt(1).metrics(), std::ios::app)
      << R"({"iteration":3,"step":300,"time":{"t":6,"phases":{"infer":1}}})"
      << "\n";
  trial.Read(1, 1 << 20);
  EXPECT_EQ(R"([[2,3,1],{"0":[125,500,1000]}])", trial.PhasesJson({Phase::kInfer}));
}

TEST_F(LiveTrialTest, CurvesEqualTheLines) {
  Write(R"({"iteration":1,"step":100,"return":{"mean":3,"n":1},"time":{"t":2,"sps":50}}
{"iteration":2,"step":200,"return":{"mean":5,"n":1},"time":{"t":4,"sps":50}}
)");
  EXPECT_THAT(ValuesOf("return"), ElementsAre(3, 5));
  EXPECT_THAT(ValuesOf("t"), ElementsAre());
}

}  // namespace
}  // namespace backplane
