// `bench`: the machine, the speeds, the fastest setting, and a file that measures them again.
#include <gmock/gmock.h>

#include <filesystem>
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

std::string WalkWithoutSweep() { return std::string(kWalk).substr(0, std::string(kWalk).find("sweep")); }

class BenchCommand : public ProgramTest {};

TEST_F(BenchCommand, MeasuresTheFileUnchanged) {
  Write("walk.yaml", WalkWithoutSweep());
  const Finished bench = Run("bench walk.yaml --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.out,
              AllOf(HasSubstr("machine: "), HasSubstr("cores granted: "), HasSubstr("as_it_is"), HasSubstr("steps/s")));
  EXPECT_THAT(bench.out, Not(HasSubstr("fastest: "))) << "there is only one setting";
  const Finished again = Run("bench walk.yaml --seconds 0.1");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/bench_walk.1")) << "earlier measurements are kept";
}

TEST_F(BenchCommand, ComparesNumbersOfEnvsAndNamesTheFastestAsYaml) {
  Write("walk.yaml", kWalk);
  const Finished bench = Run("bench walk.yaml --batch 1,64 --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.err, HasSubstr("the sweep of the file is left out"));
  EXPECT_THAT(bench.out, AllOf(HasSubstr("1_envs"), HasSubstr("64_envs"), HasSubstr("fastest: 64_envs"),
                               HasSubstr("rollout:\n  num_envs_per_env_runner: 64\n")));
  const nlohmann::json results = nlohmann::json::parse(ReadFile(dir_ / "outputs/bench_walk/report/bench_results.json"));
  EXPECT_EQ(results["name"], "bench");
  // The user can run the measured file by hand. It has neither evaluations nor a budget of steps.
  const Finished again = Run("config check outputs/bench_walk.yaml");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("2 points, 2 trials"));
  const Finished by_hand = Run("run outputs/bench_walk.yaml --quiet");
  EXPECT_EQ(by_hand.exit, 0) << by_hand.err;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/walk")) << "that folder is for the experiment's own results";
}

TEST_F(BenchCommand, ACrashOfTheReportProgramLosesOnlyTheReport) {
  Write("walk.yaml", kWalk);
  const Finished bench = RunBesideReportProgram("kill -KILL $$", "bench walk.yaml --batch 1,4 --seconds 0.1");
  EXPECT_EQ(0, bench.exit) << bench.err;
  EXPECT_THAT(bench.err, HasSubstr("cannot find the fastest setting: backplane-report was ended by: Killed\n"
                                   "  later: bin/backplane report outputs/bench_walk\n"));
}

TEST_F(BenchCommand, TheFastestSettingIsAWholeExperiment) {
  Write("walk.yaml", kWalk);
  ASSERT_EQ(Run("bench walk.yaml --batch 1,64 --seconds 0.3 --json").exit, 0);
  EXPECT_THAT(ReadFile(dir_ / "outputs/bench_walk/report/best.yaml"),
              AllOf(HasSubstr("experiment: walk_best\n"), HasSubstr("dir: outputs/walk_best\n"),
                    HasSubstr("num_envs_per_env_runner: 64\n"), ::testing::Not(HasSubstr("budget:\n")),
                    HasSubstr("episodes: 5\n"), HasSubstr("  every_iterations: 1\n")));
  const Finished check = Run("config check outputs/bench_walk/report/best.yaml --file-only --set budget.iterations=1");
  EXPECT_EQ(check.exit, 0) << check.err;
}

TEST_F(BenchCommand, ComparesAPresetWithTheFile) {
  Write("walk.yaml", WalkWithoutSweep());
  Write("presets/wide.yaml",
        "rollout: {num_env_runners: 2, num_envs_per_env_runner: 32}\n"
        "resources: {cpus: 1}\n"
        "for_learner: {random: {learner: {options: {horizon: 16}}}}\n");
  const Finished bench = Run("bench walk.yaml --preset wide --seconds 0.3");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.out, AllOf(HasSubstr("as_it_is"), HasSubstr("preset_wide")));
  EXPECT_THAT(ReadFile(dir_ / "outputs/bench_walk.yaml"),
              HasSubstr(R"({"learner.options.horizon":16,"name":"preset_wide","resources.cpus":1,)"
                        R"("rollout.num_env_runners":2,"rollout.num_envs_per_env_runner":32})"));
  const Finished none = Run("bench walk.yaml --preset wid");
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("wide"));
}

TEST_F(BenchCommand, MeasuresOnlyTheFirstStage) {
  Write("walk.yaml",
        WalkWithoutSweep() + "stages: [{name: near, learner.options.horizon: 32}, {name: far, learner.options.horizon: 96}]\n");
  const Finished bench = Run("bench walk.yaml --all --batch 1 --out speed/ --seconds 0.2");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.err, HasSubstr("only the first stage of the file is measured: near"));
  EXPECT_THAT(bench.out, AllOf(HasSubstr("as_it_is"), HasSubstr("1_envs"))) << "--all adds the file's own setting";
  EXPECT_THAT(ReadFile(dir_ / "speed.yaml"), AllOf(HasSubstr("horizon: 32\n"), HasSubstr("dir: speed\n")));
}

TEST_F(BenchCommand, ReplacesNoFileOfTheUser) {
  Write("walk.yaml", kWalk);
  const Finished file = Run("bench walk.yaml --out walk");
  EXPECT_EQ(file.exit, 2);
  EXPECT_THAT(file.err, AllOf(HasSubstr("walk.yaml is the experiment file itself"), HasSubstr("--out")));
  Write("other.yaml", kWalk);
  EXPECT_THAT(Run("bench walk.yaml --out other").err, HasSubstr("other.yaml exists, and bench did not write it"));
  Write("results/notes.txt", "mine");
  const Finished folder = Run("bench walk.yaml --out results/");
  EXPECT_EQ(folder.exit, 2);
  EXPECT_THAT(folder.err, HasSubstr("results is not empty"));
  EXPECT_EQ(ReadFile(dir_ / "walk.yaml"), kWalk);
  EXPECT_EQ(ReadFile(dir_ / "other.yaml"), kWalk);
  EXPECT_EQ(ReadFile(dir_ / "results/notes.txt"), "mine");
}

TEST_F(BenchCommand, RejectsUnmeasurableFilesBeforeTheStart) {
  Write("walk.yaml", kWalk);
  const Finished typo = Run("bench walk.yaml --set learner.options.horizn=3");
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, HasSubstr("horizon"));
  const Finished number = Run("bench walk.yaml --batch 1,many");
  EXPECT_EQ(number.exit, 2);
  EXPECT_THAT(number.err, AllOf(HasSubstr("--batch"), HasSubstr("1,many")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
}

TEST_F(BenchCommand, AutotuneWritesTheFastestAsAPreset) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  Write("walk.yaml", WalkWithoutSweep());
  const Finished bench = Run("bench walk.yaml --autotune --batch 64 --seconds 0.1");
  ASSERT_EQ(bench.exit, 0) << bench.err;
  EXPECT_THAT(bench.out, AllOf(HasSubstr("64_envs_chunk_16_threads_1"), HasSubstr("64_envs_chunk_64_threads_1"),
                               HasSubstr("fastest: 64_envs_"),
                               HasSubstr("run walk.yaml --preset outputs/bench_walk/report/autotuned.yaml")));
  const std::string preset = ReadFile(dir_ / "outputs/bench_walk/report/autotuned.yaml");
  EXPECT_THAT(preset, AllOf(HasSubstr("device:\n  gpu: none\n"), HasSubstr("for_learner:\n  random:\n"),
                            HasSubstr("num_envs_per_env_runner: 64"), HasSubstr("threads: ")));
  const std::string shown = Run("config show walk.yaml --preset outputs/bench_walk/report/autotuned.yaml").out;
  EXPECT_THAT(shown, HasSubstr("num_envs_per_env_runner: 64"));
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace backplane::end_to_end
