// Shipped presets through the real program.
#include <gmock/gmock.h>

#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PresetTest : public ProgramTest {
 protected:
  PresetTest() {
    Write("walk.yaml", R"(experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 32}}
budget: {iterations: 1}
)");
    Write("search.yaml", R"(experiment: search
env: {plugin: cartpole}
learner: {plugin: ars, options: {dir_chunk: 2}}
budget: {iterations: 1}
)");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
  }
  ~PresetTest() override {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("LD_LIBRARY_PATH");
  }
};

TEST_F(PresetTest, EachShippedPresetFitsAnyLearner) {
  for (const auto& file : std::filesystem::directory_iterator(BACKPLANE_SOURCE_DIR "/configs/presets")) {
    for (const char* experiment : {"walk.yaml", "search.yaml"}) {
      const Finished check =
          Run("config check " + std::string(experiment) + " --file-only --preset " + file.path().stem().string());
      EXPECT_EQ(check.exit, 0) << experiment << " " << file.path() << check.err;
    }
  }
}

TEST_F(PresetTest, ALearnersSectionAppliesToThatLearnerOnly) {
  const std::string shown = Run("config show search.yaml --origin --preset cpu").out;
  EXPECT_THAT(shown, AllOf(HasSubstr("num_env_runners: 4  # "), HasSubstr("num_envs_per_env_runner: 16  # "),
                           HasSubstr("dir_chunk: 0  # ")));
  EXPECT_THAT(Run("config show walk.yaml --preset cpu").out, AllOf(HasSubstr("threads: auto"), Not(HasSubstr("num_env"))));
}

TEST_F(PresetTest, ValuesOfAPresetAreShownAndRecorded) {
  const std::string shown = Run("config show walk.yaml --origin --preset a100").out;
  EXPECT_THAT(shown, HasSubstr("pin_threads: true  # "));
  EXPECT_THAT(shown, HasSubstr("presets/a100.yaml:"));
  ASSERT_EQ(Run("run walk.yaml --preset cpu").exit, 0);
  const nlohmann::json trial = nlohmann::json::parse(ReadFile(Attempt("walk").parent_path() / "trial.json"));
  EXPECT_EQ(trial["config"]["preset"], "cpu");
  EXPECT_THAT(trial["origin"]["rollout.threads"].get<std::string>(), HasSubstr("presets/cpu.yaml:"));
  EXPECT_EQ(nlohmann::json::parse(ReadFile(dir_ / "outputs/walk/run.json"))["preset"], "cpu");
}

TEST_F(PresetTest, AutoAsksTheDriver) {
  EXPECT_THAT(Run("config check walk.yaml --file-only --preset auto").err, HasSubstr(", because no GPU was found\n"));
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  EXPECT_THAT(Run("config check walk.yaml --file-only --preset auto").err,
              HasSubstr("the GPU is 'Fake A' with 8 GiB, for which there is no preset; the chosen preset is for any GPU with 5 "
                        "GiB or more\n"));
}

TEST_F(PresetTest, RejectsAnUnknownPreset) {
  const Finished run = Run("run walk.yaml --preset a10");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("unknown preset 'a10'; did you mean 'a100'?"));
}

TEST_F(PresetTest, RunNamesFirstWhatChangesLearning) {
  if (kSanitized) GTEST_SKIP() << "the preset limits memory, which a sanitizer reserves";
  const Finished run = Run("run search.yaml --dry-run --preset rtx3060_laptop --set learner.options.num_dirs=5");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, testing::StartsWith("preset rtx3060_laptop changes the training: "));
  const std::string first = run.err.substr(0, run.err.find('\n'));
  EXPECT_THAT(first, AllOf(HasSubstr("learner.options.episodes_per_dir 256 instead of 1"),
                           HasSubstr("learner.options.dir_chunk 16 instead of 2"),
                           HasSubstr("; it also changes the trials' identity: rollout.num_env_runners 6 instead of "),
                           Not(HasSubstr("num_dirs")), Not(HasSubstr("pin_threads")), Not(HasSubstr("device_memory"))));
  EXPECT_THAT(Run("run walk.yaml --dry-run --preset rtx3060_laptop").err, Not(HasSubstr("changes")));
}

// The first simulated GPU has the numbers of an A100.
TEST_F(PresetTest, DoctorAndBenchShowTheFiguresOfEachGpu) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  const auto figures =
      AllOf(HasSubstr("compute capability 8.0; 6,912 cores; 1,555 GB/s"), HasSubstr("312 float16 and bfloat16"),
            HasSubstr("compute capability 99.1, whose tensor cores are unknown here"));
  EXPECT_THAT(Run("doctor").out, figures);
  EXPECT_THAT(Run("bench walk.yaml --seconds 0.1").out, figures);
}

}  // namespace
}  // namespace backplane::end_to_end
