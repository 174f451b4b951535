// Trials of learners whose replay buffer is a file next to the checkpoints: archives, extensions, divergence, full disks and
// damage.
#include <gmock/gmock.h>

#include <fstream>

#include "batch.hpp"
#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// An iteration stores 200 transitions of 36 bytes. The ring starts again after 500 iterations.
constexpr char kReplay[] = R"(
env: {plugin: pendulum}
learner:
  plugin: sac
  options: {hidden: [8], batch_size: 8, horizon: 200, train_freq: 20, learning_starts: 300, buffer_size: 1000}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 8}
checkpoint: {every_iterations: 2}
monitors: []
)";

class ReplayTrials : public ProgramTest {
 protected:
  void Write(const std::string& name, const std::string& text = kReplay) {
    ProgramTest::Write(name + ".yaml", "experiment: " + name + text);
  }
  // The same experiment in other folders, so that their trials are equal.
  Finished RunIn(const std::string& out, const std::string& sets = "") {
    return Run("run replay.yaml --out outputs/" + out + kWithFixtures + " " + sets);
  }
  fs::path Trial(const std::string& name) const { return Attempt(name).parent_path(); }
  fs::path Buffer(const std::string& name) const { return Trial(name) / "checkpoint/replay.data"; }
  // Flips a bit of each 1,000 bytes.
  static void Damage(const fs::path& file) {
    std::string bytes = ReadFile(file);
    for (size_t at = 500; at < bytes.size(); at += 1000) bytes[at] ^= 16;
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

class EachReplayTrials : public ReplayTrials, public testing::WithParamInterface<std::string> {
 protected:
  bool discrete() const { return GetParam() == "dqn"; }
  void WriteEach(const std::string& more = "") {
    std::string text = kReplay;
    if (discrete()) text.replace(text.find("pendulum"), 8, "cartpole");
    text.replace(text.find("sac"), 3, GetParam());
    Write("replay", text + more);
  }
};

TEST_P(EachReplayTrials, UnpackedTrialIsExtendedWithItsBuffer) {
  WriteEach();
  const std::string keeps = "--set checkpoint.keep_replay=true ", more = keeps + "--set budget.iterations=12";
  ASSERT_EQ(RunIn("short", keeps).exit, 0);
  ASSERT_EQ(RunIn("whole", more).exit, 0);
  ASSERT_EQ(Run("pack outputs/short --to short.zip").exit, 0);
  EXPECT_EQ(Run("verify short.zip").exit, 0);
  for (const char* out : {"unpacked", "damaged", "without"})
    ASSERT_EQ(Run(std::string("unpack short.zip --to outputs/") + out).exit, 0);
  EXPECT_TRUE(ReadFile(Buffer("unpacked")) == ReadFile(Buffer("short")));

  const Finished extended = RunIn("unpacked", more);
  ASSERT_EQ(extended.exit, 0) << extended.err;
  EXPECT_EQ(Metrics("unpacked", 2).size(), 4u) << "only the new iterations";
  EXPECT_TRUE(LearnerState(Trial("unpacked")) == LearnerState(Trial("whole")));

  Damage(Buffer("damaged"));
  const Finished verified = Run("verify outputs/damaged");
  EXPECT_EQ(verified.exit, 1);
  EXPECT_THAT(verified.err, HasSubstr("checkpoint/replay.data differs"));
  fs::remove(Buffer("without"));
  const Finished without = RunIn("without", more);
  EXPECT_NE(without.exit, 0);
  EXPECT_THAT(without.err, HasSubstr("because its learner's files were deleted at its end"));
  EXPECT_FALSE(fs::exists(Attempt("without", 2)));
}

TEST_P(EachReplayTrials, DamagedBufferEndsTheTrialWithItsPlace) {
  WriteEach();
  const std::string keeps = "--set checkpoint.keep_replay=true ", more = keeps + "--set budget.iterations=12";
  ASSERT_EQ(RunIn("short", keeps).exit, 0);
  ASSERT_EQ(RunIn("whole", more).exit, 0);
  Damage(Buffer("short"));
  const Finished damaged = RunIn("short", more);
  EXPECT_EQ(damaged.exit, 1) << damaged.err;
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("replay.data: block 0 (bytes 0 to "),
                                 HasSubstr("is damaged: expected the checkpoint's"), HasSubstr("hint: delete ")));
  fs::remove_all(Trial("short") / "checkpoint");  // the hint
  const Finished again = RunIn("short", more + " --only-failed");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_TRUE(LearnerState(Trial("short")) == LearnerState(Trial("whole")));
}

// A reward turns NaN in iteration 5.
TEST_P(EachReplayTrials, CheckpointOnDiskSurvivesNaN) {
  std::string text = kReplay;
  text.replace(text.find("{plugin: pendulum}"), 18,
               "{plugin: " + std::string(discrete() ? "misbehaves_by_choice" : "misbehaves") +
                   ", options: {how: nan, after_steps: 900}}");
  text.replace(text.find("sac"), 3, GetParam());
  Write("replay", text);
  EXPECT_EQ(RunIn("nan").exit, 1);
  EXPECT_EQ(Result("nan")["outcome"], "nan");
  const auto iterations = [&] {
    const std::string file = ReadFile(Trial("nan") / "checkpoint/checkpoint.bin");
    return file.find("\"iterations\":4,") != std::string::npos ? 4 : 0;
  };
  const std::string kept = LearnerState(Trial("nan"));
  EXPECT_EQ(iterations(), 4);
  ASSERT_EQ(RunIn("four", "--set budget.iterations=4").exit, 0);
  EXPECT_TRUE(LearnerState(Trial("four")) == kept) << "it contains a part of iteration 5";
  EXPECT_TRUE(fs::exists(Buffer("nan")));
  EXPECT_EQ(RunIn("nan").exit, 1) << "divergence is a result";
  EXPECT_FALSE(fs::exists(Attempt("nan", 2)));
  EXPECT_EQ(RunIn("nan", "--only-failed").exit, 1);
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Attempt("nan", 2) / "result.json"))["error"], Result("nan")["error"]);
  EXPECT_EQ(Metrics("nan", 2).size(), 0u) << "it resumed from there";
  EXPECT_EQ(iterations(), 4);
  EXPECT_TRUE(LearnerState(Trial("nan")) == kept);

  // Without a checkpoint, there is no earlier state.
  EXPECT_EQ(RunIn("none", "--set checkpoint.every_iterations=0").exit, 1);
  EXPECT_FALSE(fs::exists(Trial("none") / "checkpoint/checkpoint.bin"));
}

TEST_P(EachReplayTrials, InfiniteLossDivergesAndKeepsTheCheckpoint) {
  WriteEach();
  const Finished run = RunIn("huge", "--set learner.options.lr=1e30 --set learner.options.learning_starts=500");
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(Result("huge")["outcome"], "nan");
  EXPECT_THAT(run.err, HasSubstr("a smaller lr or reward may help"));
  ASSERT_EQ(RunIn("two", "--set budget.iterations=2 --set learner.options.learning_starts=500").exit, 0);
  EXPECT_TRUE(LearnerState(Trial("huge")) == LearnerState(Trial("two")));
}

// The disk is too small for the buffer, then for the second checkpoint.
TEST_P(EachReplayTrials, FullDiskEndsNoTrialForGood) {
  const std::string nets = discrete() ? "[384,384]" : "[256,256]";  // a checkpoint takes 2.4 to 3.2 MB
  const std::string large = " --set learner.options.hidden=" + nets + " --set budget.iterations=4";
  const std::map<std::string, std::string> cases = {{"2m", ""}, {"7m", large}};
  WriteEach("on_failure: {temp: fail}\n");
  for (const auto& [size, sets] : cases) {
    ASSERT_EQ(RunIn("whole" + size, sets).exit, 0);
    const std::string run = "$backplane run replay.yaml --out disk/out" + sets;
    const auto runs =
        RunWithSmallDisk(size, run + "\nfirst=$?\nls -l disk/out/trials/*/checkpoint >listing\n" +
                                   "mount -t tmpfs -o remount,nosuid,nodev,size=100m small disk\n" + run +
                                   " --only-failed || exit 9\ncp -r disk/out outputs/full" + size + "\nexit $first\n");
    if (!runs) GTEST_SKIP() << "mounts are not permitted";
    EXPECT_NE(runs->exit, 9) << runs->err;
    EXPECT_NE(runs->exit, 0) << size << ": the disk was large enough\n" << ReadFile(dir_ / "listing");
    EXPECT_THAT(runs->err, HasSubstr("No space left on device"));
    EXPECT_EQ(ReadFile(dir_ / "listing").find("checkpoint.bin") != std::string::npos, size == "7m")
        << ReadFile(dir_ / "listing");
    EXPECT_EQ(Result("full" + size)["outcome"], "temp");
    EXPECT_TRUE(LearnerState(Trial("full" + size)) == LearnerState(Trial("whole" + size)));
  }
}

INSTANTIATE_TEST_SUITE_P(, EachReplayTrials, testing::Values("dqn", "sac", "td3"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace backplane::end_to_end
