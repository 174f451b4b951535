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
              HasSubstr("the GPU is 'Fake A' with 8 GiB, for which there is no preset; this one needs at least 5 GiB\n"));
}

TEST_F(PresetTest, RejectsAnUnknownPreset) {
  const Finished run = Run("run walk.yaml --preset a10");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("unknown preset 'a10'; did you mean 'a100'?"));
}

}  // namespace
}  // namespace backplane::end_to_end
