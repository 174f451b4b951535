// `bench`: the machine, the speeds, the fastest setting, and a file that measures them again.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kWalk[] = R"(experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8}
budget: {env_steps: 100000000}
evaluation: {episodes: 5, every_iterations: 1}
checkpoint: {every_iterations: 1}
sweep: {grid: {rollout.num_env_runners: [1, 2]}}
)";

class BenchCommand : public ProgramTest {};

TEST_F(BenchCommand, MeasuresTheFileAsItIs) {
  Write("walk.yaml", std::string(kWalk).substr(0, std::string(kWalk).find("sweep")));
  const Finished bench = Run("bench walk.yaml --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.out, AllOf(HasSubstr("machine: "), HasSubstr("cores granted: "), HasSubstr("as_it_is"), HasSubstr("steps/s")));
  EXPECT_THAT(bench.out, Not(HasSubstr("fastest: "))) << "there is nothing to choose from";
}

TEST_F(BenchCommand, ComparesNumbersOfEnvsAndNamesTheFastestAsYaml) {
  Write("walk.yaml", kWalk);
  const Finished bench = Run("bench walk.yaml --batch 1,64 --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.err, HasSubstr("the file's own sweep is left out"));
  EXPECT_THAT(bench.out, AllOf(HasSubstr("1_envs"), HasSubstr("64_envs"), HasSubstr("fastest: 64_envs"),
                               HasSubstr("rollout:\n  num_envs_per_env_runner: 64\n")));
  std::ifstream numbers(dir_ / "outputs/bench_walk/report/bench_results.json");
  const nlohmann::json results = nlohmann::json::parse(numbers);
  EXPECT_EQ(results["name"], "bench");
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/bench_walk/report/best.yaml"));
  // What was measured can be measured again by hand, and has neither evaluations nor a budget of steps.
  const Finished again = Run("config check outputs/bench_walk.yaml");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("2 points, 2 trials"));
}

TEST_F(BenchCommand, TriesAPresetBesideTheFile) {
  Write("walk.yaml", std::string(kWalk).substr(0, std::string(kWalk).find("sweep")));
  Write("presets/wide.yaml", "rollout: {num_env_runners: 2, num_envs_per_env_runner: 32}\n");
  const Finished bench = Run("bench walk.yaml --preset wide --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.out, AllOf(HasSubstr("as_it_is"), HasSubstr("preset_wide")));
  const Finished shown = Run("config show outputs/bench_walk/report/best.yaml");
  EXPECT_EQ(shown.exit, 0) << shown.err;
  const Finished none = Run("bench walk.yaml --preset wid");
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("wide"));
}

TEST_F(BenchCommand, RefusesWhatItCanNotMeasureBeforeAnythingStarts) {
  Write("walk.yaml", kWalk);
  const Finished typo = Run("bench walk.yaml --set learner.options.horizn=3");
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, HasSubstr("horizon"));
  const Finished number = Run("bench walk.yaml --batch 1,many");
  EXPECT_EQ(number.exit, 2);
  EXPECT_THAT(number.err, AllOf(HasSubstr("--batch"), HasSubstr("1,many")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
}

}  // namespace
}  // namespace backplane::end_to_end
