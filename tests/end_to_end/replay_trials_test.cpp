// Trials of learner.sac, whose replay buffer is a file next to the checkpoints: archives, divergence, full disks, damage.
#include <gmock/gmock.h>

#include <fstream>

#include "batch.hpp"
#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

// An iteration stores 200 transitions of 36 bytes. The ring starts again after 300 iterations.
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
  void Write(const std::string& name, std::string text = kReplay) {
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

TEST_F(ReplayTrials, UnpackedTrialIsExtendedWithItsBuffer) {
  Write("replay");
  const std::string keeps = "--set checkpoint.keep_replay=true ", more = keeps + "--set budget.iterations=12";
  ASSERT_EQ(RunIn("short", keeps).exit, 0);
  ASSERT_EQ(RunIn("whole", more).exit, 0);
  ASSERT_EQ(Run("pack outputs/short --to short.zip").exit, 0);
  EXPECT_EQ(Run("verify short.zip").exit, 0);
  for (const char* out : {"unpacked", "damaged", "without"})
    ASSERT_EQ(Run(std::string("unpack short.zip --to outputs/") + out).exit, 0);
  EXPECT_EQ(ReadFile(Buffer("unpacked")), ReadFile(Buffer("short")));

  const Finished extended = RunIn("unpacked", more);
  ASSERT_EQ(extended.exit, 0) << extended.err;
  EXPECT_EQ(Metrics("unpacked", 2).size(), 4u) << "only the new iterations";
  EXPECT_EQ(LearnerState(Trial("unpacked")), LearnerState(Trial("whole")));

  Damage(Buffer("damaged"));
  const Finished verified = Run("verify outputs/damaged");
  EXPECT_EQ(verified.exit, 1);
  EXPECT_THAT(verified.err, HasSubstr("checkpoint/replay.data differs"));
  fs::remove(Buffer("without"));
  const Finished without = RunIn("without", more);
  EXPECT_NE(without.exit, 0);
  EXPECT_THAT(without.err, HasSubstr("its learner's files, which it needs to resume"));
  EXPECT_FALSE(fs::exists(Attempt("without", 2)));
}

}  // namespace
}  // namespace backplane::end_to_end
