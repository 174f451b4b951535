// The results folder of a running batch: the user learns of its move, deletion or replacement, and no other folder is written.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder : public ProgramTest {
 protected:
  Folder() {
    Write("long.yaml", R"(experiment: long
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {wall_time: 120s}
monitors: []
)");
  }

  // Returns once the trial has written its first line.
  void StartBatch() {
    batch_ = Start("run long.yaml");
    ASSERT_TRUE(Begins("long")) << ErrorsOf(batch_);
    trial_ = Attempt("long").parent_path().filename();
    meddled_ = std::chrono::steady_clock::now();
  }
  // The batch notices within a second and ends by itself; then its trial saves its state.
  std::string HowItEnded() {
    const Finished run = Wait(batch_);
    EXPECT_EQ(run.exit, 1) << run.out << run.err;
    EXPECT_LT(std::chrono::steady_clock::now() - meddled_, std::chrono::seconds(kSanitized ? 20 : 5));
    return run.err;
  }
  std::string State(const fs::path& out) const { return ReadFile(out / "trials" / trial_ / "attempt-1/result.json"); }

  const fs::path out_ = dir_ / "outputs/long", elsewhere_ = dir_ / "elsewhere";
  std::string trial_;
  pid_t batch_ = 0;
  std::chrono::steady_clock::time_point meddled_;
};

TEST_F(Folder, EachCommandNamesAPathThatIsNoFolder) {
  Write("file", "");
  for (const std::string command : {"status", "watch", "stop", "report", "export csv", "store rebuild", "pack",
                                    "gc --keep last", "gate save --to base.json"}) {
    EXPECT_THAT(Run(command + " none").err, HasSubstr("none: expected a results folder, got a path that does not exist"));
    EXPECT_THAT(Run(command + " file").err, HasSubstr("file: expected a results folder, got a file"));
  }
}

TEST_F(Folder, ResultsFollowAMovedFolderAndItsNewNameIsReported) {
  StartBatch();
  fs::rename(out_, elsewhere_);
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr(out_.string() + " was moved"), HasSubstr("--out " + elsewhere_.string())));
  EXPECT_FALSE(fs::exists(out_)) << "the old folder is not created again";
  EXPECT_THAT(State(elsewhere_), HasSubstr("KILLED"));
  EXPECT_TRUE(fs::exists(elsewhere_ / "trials" / trial_ / "checkpoint/checkpoint.bin"));
  EXPECT_THAT(ReadFile(elsewhere_ / "events.jsonl"), AllOf(HasSubstr("attempt.end"), HasSubstr("folder lost")));
  const Finished again = Run("run long.yaml --set budget.wall_time=1s --out " + elsewhere_.string());
  EXPECT_EQ(again.exit, 0) << again.err;
}

TEST_F(Folder, ADeletedFolderEndsTheBatchAndIsNotRecreated) {
  StartBatch();
  while (fs::exists(out_)) {
    std::error_code written_meanwhile;
    fs::remove_all(out_, written_meanwhile);
  }
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr(out_.string()), HasSubstr("was deleted"), HasSubstr("starts from scratch")));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(Folder, AChangedLinkOnThePathLeavesTheOtherFolderUnchanged) {
  fs::create_directories(elsewhere_ / "a/long");
  fs::create_directories(elsewhere_ / "b");
  fs::create_directory_symlink(elsewhere_ / "a", dir_ / "outputs");
  StartBatch();
  fs::create_directories(elsewhere_ / "b/long/trials" / trial_ / "attempt-1");
  fs::create_directory_symlink(elsewhere_ / "b", dir_ / "outputs.new");
  fs::rename(dir_ / "outputs.new", dir_ / "outputs");
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr("was replaced by a different folder"),
                                  HasSubstr("results are in " + (elsewhere_ / "a/long").string())));
  EXPECT_THAT(State(elsewhere_ / "a/long"), HasSubstr("KILLED"));
  for (const auto& entry : fs::recursive_directory_iterator(elsewhere_ / "b")) EXPECT_FALSE(entry.is_regular_file()) << entry;
}

TEST_F(Folder, ARemovedLockEndsTheBatch) {
  StartBatch();
  fs::remove(out_ / "lock");
  EXPECT_THAT(HowItEnded(), HasSubstr("results are in " + out_.string()));
  EXPECT_THAT(State(out_), HasSubstr("KILLED"));
}

// The supervisor cannot answer while it is stopped, but its lock shows that it exists.
TEST_F(Folder, ASecondRunIsLockedOutWhileTheFirstIsSuspended) {
  StartBatch();
  kill(batch_, SIGSTOP);
  fs::remove(out_ / "lock");
  const Finished second = Run("run long.yaml");
  EXPECT_EQ(second.exit, 1);
  EXPECT_THAT(second.err, HasSubstr("in use by another run (process " + std::to_string(batch_) + " on "));
  EXPECT_FALSE(fs::exists(out_ / "trials" / trial_ / "attempt-2"));
  meddled_ = std::chrono::steady_clock::now();  // it was stopped until here
  kill(batch_, SIGCONT);
  HowItEnded();
}

TEST_F(Folder, RemovedTrialsEndTheBatch) {
  StartBatch();
  std::error_code written_meanwhile;
  while (fs::exists(out_ / "trials")) fs::remove_all(out_ / "trials", written_meanwhile);
  EXPECT_THAT(HowItEnded(),
              AllOf(HasSubstr((out_ / "trials").string()), HasSubstr("The rest of the results is in " + out_.string())));
  EXPECT_FALSE(fs::exists(out_ / "trials"));
}

TEST_F(Folder, AMovedFolderOfARunningTrialEndsTheBatch) {
  StartBatch();
  fs::rename(out_ / "trials" / trial_, elsewhere_);
  EXPECT_THAT(HowItEnded(), HasSubstr((out_ / "trials" / trial_).string() + ", was moved"));
  EXPECT_THAT(ReadFile(elsewhere_ / "attempt-1/result.json"), HasSubstr("KILLED"));
}

class BatchRecordFile : public Folder, public testing::WithParamInterface<const char*> {
 protected:
  fs::path Record() const { return out_ / GetParam(); }
  void ExpectThatItGoesOn() {
    const Finished again = Run("run long.yaml --set budget.wall_time=1s");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(Run("status outputs/long").exit, 0);
  }
};

TEST_P(BatchRecordFile, IsWrittenAgainIfDeleted) {
  StartBatch();
  fs::remove(Record());
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr(Record().string() + " was deleted or moved while the batch ran"),
                                  HasSubstr("Its record was restored to " + Record().string())));
  EXPECT_THAT(State(out_), HasSubstr("KILLED"));
  EXPECT_THAT(ReadFile(out_ / "events.jsonl"), AllOf(HasSubstr("attempt.end"), HasSubstr("folder lost")));
  EXPECT_THAT(ReadFile(out_ / "plan.jsonl"), HasSubstr(trial_));
  ExpectThatItGoesOn();
}

TEST_P(BatchRecordFile, IsKeptNextToTheFileThatReplacesIt) {
  StartBatch();
  Write("other", "not yours\n");
  fs::rename(dir_ / "other", Record());
  const fs::path kept = Record().string() + ".1";
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr(Record().string() + " was replaced by a different file while the batch ran"),
                                  HasSubstr("Its record is in " + kept.string())));
  EXPECT_EQ(ReadFile(Record()), "not yours\n");
  EXPECT_THAT(ReadFile(kept), HasSubstr(trial_));
  fs::rename(kept, Record());
  ExpectThatItGoesOn();
}

TEST_P(BatchRecordFile, EndsTheBatchIfCut) {
  StartBatch();
  fs::resize_file(Record(), 0);
  EXPECT_THAT(HowItEnded(), AllOf(HasSubstr(Record().string() + " was cut while the batch ran"),
                                  HasSubstr("The rest of the record is in " + Record().string())));
  EXPECT_THAT(State(out_), HasSubstr("KILLED"));
  ExpectThatItGoesOn();
}

INSTANTIATE_TEST_SUITE_P(Folder, BatchRecordFile, testing::Values("events.jsonl", "plan.jsonl"),
                         [](const auto& info) { return std::string(info.param).substr(0, std::string(info.param).find('.')); });

TEST_F(Folder, StopIgnoresTheLockOfACopiedFolder) {
  StartBatch();
  fs::copy(out_, elsewhere_, fs::copy_options::recursive);
  EXPECT_THAT(Run("stop " + elsewhere_.string()).out, HasSubstr("nothing is running"));
  EXPECT_EQ(kill(batch_, 0), 0);
  EXPECT_EQ(Run("stop " + out_.string()).exit, 0);
  EXPECT_EQ(Wait(batch_).exit, 130);
}

TEST_F(Folder, FreshMovesOnlyResultsFolders) {
  Write("mine/letter.txt", "dear");
  const Finished run = Run("run long.yaml --fresh --out mine");
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("mine is not a results folder: it holds letter.txt"), HasSubstr("events.jsonl")));
  EXPECT_EQ(ReadFile(dir_ / "mine/letter.txt"), "dear");
  EXPECT_FALSE(fs::exists(dir_ / "mine/lock"));
}

}  // namespace
}  // namespace backplane::end_to_end
