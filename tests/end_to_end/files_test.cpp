// A learner that keeps a file (backplane/ext/file.h): kills, stops, damage, a full disk, and the file after the trial's end.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <set>

#include "batch.hpp"
#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The ring starts again after 21 iterations. The slack is as long as 8 of them.
constexpr char kHoards[] = R"(
env: {plugin: cartpole}
learner: {plugin: hoards, options: {entries: 3000, entry_bytes: 1000, writes: 400, reads: 50, spare_blocks: 2}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 60}
checkpoint: {every_iterations: 4}
monitors: []
)";

class FilesOfALearner : public ProgramTest {
 protected:
  void Write(const std::string& name, const std::string& text = kHoards) {
    ProgramTest::Write(name + ".yaml", "experiment: " + name + text);
  }
  static std::string Command(const std::string& name, const std::string& sets) {
    return "run " + name + ".yaml" + kWithFixtures + sets;
  }
  Finished RunFile(const std::string& name, const std::string& sets = "") { return Run(Command(name, sets)); }
  fs::path Trial(const std::string& name) const { return Attempt(name).parent_path(); }
  fs::path Ring(const std::string& name) const { return Trial(name) / "checkpoint/ring.data"; }
  // The learner's state of an uninterrupted trial.
  const std::string& Whole() {
    if (!whole_.empty()) return whole_;
    Write("whole");
    const Finished run = RunFile("whole");
    EXPECT_EQ(run.exit, 0) << run.err;
    whole_ = LearnerState(Trial("whole"));
    EXPECT_EQ(whole_.size(), 24u);
    return whole_;
  }
  // The supervisor first, because it would start the trial again; then the trial, before it can save itself.
  Finished KillAll(pid_t pid) {
    kill(pid, SIGKILL);
    for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
    return Wait(pid);
  }
  // Starts it and waits until some iterations of the attempt are complete.
  pid_t StartUntil(const std::string& name, size_t iterations, const std::string& sets, int attempt = 1) {
    const pid_t pid = Start(Command(name, sets));
    EXPECT_TRUE(Until([&] {
      return Begins(name) && fs::exists(Attempt(name, attempt)) && Metrics(name, attempt).size() >= iterations;
    })) << ErrorsOf(pid);
    return pid;
  }
  Finished StopAfter(const std::string& name, size_t iterations, const std::string& sets) {
    const pid_t pid = StartUntil(name, iterations, sets);
    kill(pid, SIGINT);
    return Wait(pid);
  }
  static void FlipABit(const fs::path& file, std::streamoff at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 16));
  }

  // Slow updates, which change no value.
  static constexpr char kSlow[] = " --set learner.options.sleep_us=20000";
  std::string whole_;
};

// A shorter form of scripts/check_files.
TEST_F(FilesOfALearner, KilledTrialEqualsAWholeOne) {
  const std::string& whole = Whole();
  std::mt19937 draw(7);
  Write("killed");
  for (int kills = 0; kills < 4; ++kills) {
    const pid_t pid = Start(Command("killed", kSlow));
    Until([&] { return !TrialProcesses().empty(); });
    usleep(std::uniform_int_distribution<useconds_t>(100'000, 400'000)(draw));
    KillAll(pid);
  }
  const Finished run = RunFile("killed", kSlow);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(fs::exists(Attempt("killed", 2))) << "it ended before the first kill";
  EXPECT_EQ(LearnerState(Trial("killed")), whole);
}

TEST_F(FilesOfALearner, StopsBetweenTwoIterations) {
  const std::string& whole = Whole();
  Write("parts");
  const Finished first = StopAfter("parts", 6, kSlow);
  ASSERT_EQ(first.exit, 130) << first.err;
  EXPECT_TRUE(fs::exists(Ring("parts"))) << "a trial that can resume keeps it";
  const Finished status = Run("status outputs/parts");
  EXPECT_THAT(status.out, HasSubstr("checkpoints "));
  const Finished second = RunFile("parts", kSlow);
  ASSERT_EQ(second.exit, 0) << second.err;
  EXPECT_EQ(Metrics("parts").size() + Metrics("parts", 2).size(), 60u) << "no iteration is repeated";
  EXPECT_EQ(LearnerState(Trial("parts")), whole);
}

// Its rollouts take 16 s.
TEST_F(FilesOfALearner, StopBreaksOffALongIterationUnsaved) {
  Write("long", R"(
env: {plugin: misbehaves, options: {sleep_us: 500000}}
learner: {plugin: hoards}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
checkpoint: {every_iterations: 1}
monitors: []
)");
  const pid_t pid = StartUntil("long", 1, "");
  sleep(2);  // of the second rollout
  const auto begin = std::chrono::steady_clock::now();
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(first.exit, 130) << first.err;
  EXPECT_GT(seconds, 9) << "it did not wait for the end of the iteration";
  EXPECT_LT(seconds, 14) << "it waited for the end of the iteration";
  EXPECT_THAT(ReadFile(Trial("long") / "checkpoint/checkpoint.bin"), HasSubstr("\"iterations\":1,"));
  EXPECT_TRUE(fs::exists(Ring("long")));
}

TEST_F(FilesOfALearner, OlderCheckpointFindsItsBytes) {
  const std::string& whole = Whole();
  Write("older");
  ASSERT_EQ(StopAfter("older", 23, kSlow).exit, 130);
  FlipABit(Trial("older") / "checkpoint/checkpoint.bin", 100);
  const Finished second = RunFile("older", kSlow);
  ASSERT_EQ(second.exit, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("it resumes from checkpoint.1.bin"));
  EXPECT_EQ(LearnerState(Trial("older")), whole);
}

TEST_F(FilesOfALearner, FlippedBitIsFound) {
  Write("flipped");
  ASSERT_EQ(StopAfter("flipped", 6, kSlow).exit, 130);
  for (std::streamoff at = 500; at < 2'000'000; at += 1000) FlipABit(Ring("flipped"), at);
  const Finished second = RunFile("flipped", kSlow);
  EXPECT_EQ(second.exit, 1) << second.err;
  EXPECT_THAT(second.err, AllOf(HasSubstr("learner.hoards: consume: the ring failed: "), HasSubstr("ring.data: block "),
                                HasSubstr("is damaged: expected the checkpoint's checksum")));
}

TEST_F(FilesOfALearner, CheckpointOnDiskSurvivesNaN) {
  Write("nan");
  const Finished run = RunFile("nan", " --set learner.options.nan_at=11");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_EQ(Result("nan")["outcome"], "nan");
  const std::string kept = ReadFile(Trial("nan") / "checkpoint/checkpoint.bin");
  EXPECT_THAT(kept, HasSubstr("\"iterations\":8"));
}

// Without checkpoint.every_iterations, the checkpoint of a stop is still protected: the next one comes before the learner
// overwrites bytes that it needs, after about 24 iterations.
TEST_F(FilesOfALearner, TakesCheckpointsInTime) {
  const std::string& whole = Whole();
  Write("rare");
  const std::string rarely = std::string(kSlow) + " --set checkpoint.every_iterations=0 --set learner.options.spare_blocks=8";
  ASSERT_EQ(StopAfter("rare", 6, rarely).exit, 130);
  KillAll(StartUntil("rare", 28, rarely, 2));
  const Finished last = RunFile("rare", rarely);
  ASSERT_EQ(last.exit, 0) << last.err;
  const int first = Metrics("rare", 3).front()["iteration"];
  EXPECT_GT(first, 12) << "the checkpoint of the stop is not the newest";
  EXPECT_LE(first, Metrics("rare", 2).back()["iteration"]) << "not every iteration has a checkpoint";
  EXPECT_EQ(LearnerState(Trial("rare")), whole);
}

TEST_F(FilesOfALearner, ReachesTheDiskBeforeItsCheckpoint) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer must be loaded first";
#endif
  Write("synced");
  setenv("LD_PRELOAD", BACKPLANE_BINARY_DIR "/tests/tells_syncs.so", 1);
  setenv("TELLS_SYNCS", (dir_ / "syncs").c_str(), 1);
  if (kSanitized) setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  const Finished run =
      RunFile("synced", std::string(kSlow) + " --set budget.iterations=12 --set checkpoint.every_iterations=12");
  for (const char* name : {"LD_PRELOAD", "TELLS_SYNCS", "ASAN_OPTIONS"}) unsetenv(name);
  ASSERT_EQ(run.exit, 0) << run.err;
  std::istringstream lines(ReadFile(dir_ / "syncs"));
  size_t of_ring = 0;
  std::string before;
  for (std::string line; std::getline(lines, line) && !line.ends_with("checkpoint.bin.tmp"); before = line)
    of_ring += line.ends_with("ring.data") ? 1 : 0;
  EXPECT_GE(of_ring, 3u) << "4 blocks are filled in 12 iterations, and the checkpoint syncs the rest";
  EXPECT_THAT(before, testing::EndsWith("ring.data"));
}

TEST_F(FilesOfALearner, EndDeletesTheFileUnlessKept) {
  const std::string& whole = Whole();
  EXPECT_FALSE(fs::exists(Ring("whole")));
  Write("kept");
  const std::string keeps = " --set checkpoint.keep_replay=true";
  ASSERT_EQ(RunFile("kept", " --set budget.iterations=30" + keeps).exit, 0);
  EXPECT_TRUE(fs::exists(Ring("kept")));
  EXPECT_EQ(Run("gc outputs/kept --keep last").exit, 0);
  EXPECT_TRUE(fs::exists(Ring("kept"))) << "the last checkpoint needs it";
  const Finished extended = RunFile("kept", keeps);
  ASSERT_EQ(extended.exit, 0) << extended.err;
  EXPECT_EQ(LearnerState(Trial("kept")), whole);
  EXPECT_EQ(Attempt("kept").parent_path().filename(), Attempt("whole").parent_path().filename()) << "not in the identity";
}

TEST_F(FilesOfALearner, ExtendingNeedsTheFile) {
  Write("small");
  ASSERT_EQ(RunFile("small", " --set budget.iterations=10").exit, 0);
  const Finished run = RunFile("small", " --set budget.iterations=20");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("the trial cannot resume, because its learner's files were deleted at its end"),
                             HasSubstr("checkpoint.keep_replay=true")));
  EXPECT_FALSE(fs::exists(Attempt("small", 2)));
}

TEST_F(FilesOfALearner, InspectReplaysFromTheStart) {
  Write("seen");
  ASSERT_EQ(RunFile("seen", " --set budget.iterations=10 --set checkpoint.keep_replay=true").exit, 0);
  const Finished run = Run("inspect outputs/seen --iteration 9");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("bit-equal to the record: iterations 1 to 9"));
  const Finished replayed = Run("replay outputs/seen");
  EXPECT_EQ(replayed.exit, 0) << replayed.out << replayed.err;
}

// Its state continues in a second instance only if the file comes along.
TEST_F(FilesOfALearner, PassesValidation) {
  const Finished run = Run("plugin validate " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/learner_hoards.so --env cartpole");
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("PASSED   state-continues"), HasSubstr("PASSED   newer-host")));
}

TEST_F(FilesOfALearner, NextStageBeginsWithAnEmptyOne) {
  Write("staged",
        std::string(kHoards) + "stages: [{name: first, budget.iterations: 10}, {name: second, budget.iterations: 8}]\n");
  const Finished run = RunFile("staged");
  ASSERT_EQ(run.exit, 0) << run.err;
  std::set<std::string> states;
  for (const auto& trial : fs::directory_iterator(Out("staged") / "trials")) states.insert(LearnerState(trial.path()));
  ASSERT_EQ(states.size(), 2u);
  std::set<uint64_t> counts;  // entries in the ring, and updates of both stages
  for (const std::string& state : states)
    for (const size_t at : {8, 16}) counts.insert(*reinterpret_cast<const uint64_t*>(state.data() + at));
  EXPECT_EQ(counts, (std::set<uint64_t>{8 * 400, 10 * 400, 10, 18}));
}

TEST_F(FilesOfALearner, BestCheckpointHasNoFile) {
  Write("best", std::string(kHoards) + "evaluation: {episodes: 4, every_iterations: 3}\n");
  const std::string sets = std::string(kSlow) + " --set budget.iterations=20 --set checkpoint.best=eval/return";
  ASSERT_EQ(StopAfter("best", 8, sets).exit, 130);
  const Finished run = RunFile("best", sets);
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string best = ReadFile(Trial("best") / "checkpoint/best.bin");
  EXPECT_THAT(best, Not(HasSubstr("\"name\":\"files\"")));
  EXPECT_THAT(ReadFile(Trial("best") / "checkpoint/checkpoint.bin"), HasSubstr("\"name\":\"files\""));
  const Finished evaluated = Run("evaluate outputs/best --checkpoint best --episodes 4");
  EXPECT_EQ(evaluated.exit, 0) << evaluated.err;
}

TEST_F(FilesOfALearner, FullDiskEndsNoTrialForGood) {
  Write("full");
  const auto runs = RunWithSmallDisk("6m", R"(
$backplane run full.yaml --plugin-path )" BACKPLANE_BINARY_DIR R"(/tests/fixtures/plugins --set output.dir=disk/out
first=$?
mount -t tmpfs -o remount,nosuid,nodev,size=100m small disk
$backplane run full.yaml --plugin-path )" BACKPLANE_BINARY_DIR R"(/tests/fixtures/plugins --set output.dir=disk/out || exit 9
cp -r disk/out outputs/full
exit $first
)");
  if (!runs) GTEST_SKIP() << "mounts are not permitted";
  EXPECT_NE(runs->exit, 9) << runs->err;
  EXPECT_NE(runs->exit, 0) << "the disk was large enough";
  EXPECT_THAT(runs->err, AllOf(HasSubstr("ring.data"), HasSubstr("No space left on device")));
}

}  // namespace
}  // namespace backplane::end_to_end
