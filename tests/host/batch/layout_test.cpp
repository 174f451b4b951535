#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <utility>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "batch/folder_watch.hpp"
#include "contract/checkpoint_files.hpp"
#include "record/fields.hpp"
#include "record/status_reader.hpp"
#include "store/out_folder.hpp"
#include "support/few_descriptors.hpp"

namespace backplane {
namespace {

class LayoutTest : public testing::Test {
 protected:
  ~LayoutTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("layout_test_" + std::to_string(getpid()));
  std::filesystem::path out_ = folder_ / "run";
};

TEST_F(LayoutTest, FreshTakesTheNextFreeNumber) {
  EXPECT_FALSE(MoveAside(out_));
  std::filesystem::create_directories(out_);
  EXPECT_FALSE(MoveAside(out_)) << "an empty folder is used";
  std::ofstream(out_ / "plan.jsonl") << "{}";
  EXPECT_EQ(folder_ / "run.1", MoveAside(out_));
  std::filesystem::create_directories(out_);
  std::ofstream(out_ / "events.jsonl") << "{}";
  EXPECT_EQ(folder_ / "run.2", MoveAside(out_ / ""));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(LayoutTest, FolderInUseIsRejectedAndStays) {
  const OutLock lock(out_);
  EXPECT_THROW(OutLock{out_}, std::runtime_error);
  EXPECT_THROW(MoveAside(out_), std::runtime_error);
}

TEST_F(LayoutTest, FreshMovesNothingButResults) {
  std::filesystem::create_directories(out_ / "photos");
  EXPECT_THAT([&] { MoveAside(out_); }, testing::ThrowsMessage<std::runtime_error>(
                                            testing::HasSubstr("not a results folder: it holds photos, and none")));
  EXPECT_TRUE(std::filesystem::exists(out_ / "photos"));
  EXPECT_FALSE(std::filesystem::exists(out_ / "lock"));
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(MoveAside(folder_ / "file"), std::runtime_error);
}

TEST_F(LayoutTest, FolderWithoutItsLockFileStaysInUse) {
  const OutLock lock(out_);
  std::filesystem::remove(out_ / "lock");
  EXPECT_THAT([&] { OutLock{out_}; },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("process " + std::to_string(getpid()))));
}

TEST_F(LayoutTest, FolderOfARunningTrialIsInUse) {
  std::filesystem::create_directories(TrialFolderOf(out_, "0123456789ab").folder);
  std::optional<HeldFolder> trial(std::in_place, TrialFolderOf(out_, "0123456789ab").folder);
  LockTrial(*trial);
  EXPECT_THROW(LockTrial(HeldFolder(trial->name())), std::runtime_error);
  EXPECT_THROW(OutLock{out_}, std::runtime_error);
  trial.reset();
  const OutLock lock(out_);
}

// Not mistaken for a folder that was moved away, which would be tried forever.
TEST_F(LayoutTest, AFolderThatCannotBeOpenedIsNamedWithTheReason) {
  std::filesystem::create_directories(out_);
  const std::string sentence = "cannot open " + out_.string() + ": Too many open files";
  EXPECT_EQ(sentence, SentenceWithoutDescriptors([&] { OutLock{out_}; }));
  EXPECT_EQ(sentence, SentenceWithoutDescriptors([&] { LockTrial(HeldFolder(out_)); }));
}

TEST_F(LayoutTest, ALockFileThatLeadsNowhereIsNamed) {
  std::filesystem::create_directories(out_);
  std::filesystem::create_symlink(folder_ / "none" / "lock", out_ / "lock");
  EXPECT_THAT([&] { OutLock{out_}; },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("cannot create " + (out_ / "lock").string())));
}

TEST_F(LayoutTest, ABatchThatCannotBeWatchedDoesNotBegin) {
  const OutLock lock(out_);
  std::filesystem::create_directories(out_ / "trials");
  EXPECT_EQ("cannot open " + out_.string() + ": Too many open files",
            SentenceWithoutDescriptors([&] { FolderWatch(out_, lock); }));
}

TEST_F(LayoutTest, AStatusThatIsAPipeIsNotOpened) {
  std::filesystem::create_directories(folder_);
  ASSERT_EQ(mkfifo((folder_ / "status").c_str(), 0600), 0);
  EXPECT_FALSE(StatusReader(folder_ / "status").Read());
}

// A folder copied while its batch runs names a supervisor that does not work in it.
TEST_F(LayoutTest, CopiedLockNamesNoSupervisor) {
  const OutLock lock(out_);
  std::filesystem::create_directories(folder_ / "copy");
  std::filesystem::copy(out_ / "lock", folder_ / "copy/lock");
  EXPECT_TRUE(FindSupervisor(out_));
  EXPECT_FALSE(FindSupervisor(folder_ / "copy"));
}

TEST_F(LayoutTest, LockNamesItsHolderAndIsEmptyAfterwards) {
  {
    const OutLock lock(out_);
    EXPECT_EQ(getpid(), FindSupervisor(out_)->pid);
    EXPECT_EQ(ThisProcess().pid_start, FindSupervisor(out_)->pid_start);
    EXPECT_FALSE(IsFree(out_));
    try {
      OutLock again(out_);
      FAIL() << "two supervisors in one folder";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("process " + std::to_string(getpid())));
    }
  }
  EXPECT_FALSE(FindSupervisor(out_));
  EXPECT_TRUE(IsFree(out_));
}

TEST_F(LayoutTest, ReusedPidIsNotASupervisor) {
  std::filesystem::create_directories(out_);
  ProcessId reused = ThisProcess();
  ++reused.pid_start;
  std::ofstream(out_ / "lock") << ToJson(reused).dump();
  EXPECT_FALSE(FindSupervisor(out_));
  const OutLock lock(out_);  // a free lock counts as free, whatever it contains
  EXPECT_TRUE(FindSupervisor(out_));
}

TEST_F(LayoutTest, SupervisorOnADifferentMachineLivesWithItsLock) {
  std::filesystem::create_directories(out_);
  ProcessId far = ThisProcess();
  far.hostname = "elsewhere.invalid";
  std::ofstream(out_ / "lock") << ToJson(far).dump();
  EXPECT_FALSE(FindSupervisor(out_));
  const int lock = open((out_ / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, flock(lock, LOCK_EX));
  ASSERT_TRUE(FindSupervisor(out_));
  EXPECT_EQ("elsewhere.invalid", FindSupervisor(out_)->hostname);
  close(lock);
}

TEST_F(LayoutTest, UpkeepLocksTheFolderButIsNotASupervisor) {
  const OutLock lock(out_, {}, LockFor::kUpkeep);
  EXPECT_FALSE(FindSupervisor(out_));
  EXPECT_FALSE(IsFree(out_));
  EXPECT_THROW(OutLock{out_}, std::runtime_error);
}

// Two `run --fresh` wait for the same orphans. The second then holds a lock of results that have left OUT.
TEST_F(LayoutTest, DoesNotLockAFolderThatWasMovedAway) {
  std::filesystem::create_directories(out_);
  ProcessId dead = ThisProcess();
  ++dead.pid_start;
  std::ofstream(out_ / "lock") << ToJson(dead).dump();
  const int orphan = open((out_ / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, flock(orphan, LOCK_EX));
  std::unique_ptr<OutLock> first;
  const OutLock::Say another_run_is_quicker = [&](const std::string&) {
    std::filesystem::rename(out_, folder_ / "run.1");
    close(orphan);
    first = std::make_unique<OutLock>(out_);
  };
  EXPECT_THROW(OutLock(out_, another_run_is_quicker), std::runtime_error);
  EXPECT_TRUE(FindSupervisor(out_));  // the lock still names the first
  first.reset();
  EXPECT_TRUE(IsFree(out_));
}

TEST_F(LayoutTest, CreatesFolderIfTheOldOneWasMoved) {
  std::filesystem::create_directories(out_);
  ProcessId dead = ThisProcess();
  ++dead.pid_start;
  std::ofstream(out_ / "lock") << ToJson(dead).dump();
  const int orphan = open((out_ / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, flock(orphan, LOCK_EX));
  const OutLock lock(out_, [&](const std::string&) {
    std::filesystem::rename(out_, folder_ / "run.1");
    close(orphan);
  });
  EXPECT_EQ(getpid(), FindSupervisor(out_)->pid);
  EXPECT_FALSE(FindSupervisor(folder_ / "run.1"));
  EXPECT_TRUE(IsFree(folder_ / "run.1"));
}

// A process that holds the lock of a dead supervisor until it is released, like a trial that outlives it.
class Orphan {
 public:
  explicit Orphan(const std::filesystem::path& out) {
    std::filesystem::create_directories(out);
    EXPECT_EQ(0, pipe(release_));
    EXPECT_EQ(0, pipe(ready_));
    pid_ = fork();
    char byte;
    if (pid_ == 0) {
      close(release_[1]);
      const int fd = open((out / "lock").c_str(), O_RDWR | O_CREAT, 0644);
      flock(fd, LOCK_EX);
      ProcessId dead = ThisProcess();
      ++dead.pid_start;
      const std::string text = ToJson(dead).dump();
      [[maybe_unused]] ssize_t n = write(fd, text.data(), text.size());
      n = write(ready_[1], "x", 1);
      n = read(release_[0], &byte, 1);
      _exit(0);
    }
    EXPECT_EQ(1, read(ready_[0], &byte, 1));
  }
  ~Orphan() {
    Release();
    waitpid(pid_, nullptr, 0);
    for (const int fd : {release_[0], ready_[0], ready_[1]}) close(fd);
  }
  void Release() {
    if (release_[1] >= 0) close(std::exchange(release_[1], -1));
  }

 private:
  int release_[2], ready_[2];
  pid_t pid_ = 0;
};

TEST_F(LayoutTest, WaitsForTrialsOfADeadSupervisor) {
  Orphan orphan(out_);
  EXPECT_FALSE(FindSupervisor(out_));
  EXPECT_FALSE(IsFree(out_));
  int sentences = 0;
  const OutLock lock(out_, [&](const std::string& text) {
    ++sentences;
    EXPECT_THAT(text, testing::HasSubstr("waiting for trials"));
    ASSERT_TRUE(FindSupervisor(out_)) << "`stop` has to find the run that waits";
    EXPECT_EQ(getpid(), FindSupervisor(out_)->pid);
    orphan.Release();
  });
  EXPECT_EQ(1, sentences);
  EXPECT_EQ(getpid(), FindSupervisor(out_)->pid);
}

// The waiting run is stopped before or after a different run has got the folder.
TEST_F(LayoutTest, RunThatWaitsInVainRestoresOnlyItsOwnName) {
  const Orphan orphan(out_);
  const std::optional<std::string> before = ReadFile(out_ / "lock");
  EXPECT_THROW(OutLock(out_, [](const std::string&) { throw Interrupted(); }), Interrupted);
  EXPECT_EQ(before, ReadFile(out_ / "lock"));
  const auto another = [&](const std::string&) {
    std::ofstream(out_ / "lock") << "another";
    throw Interrupted();
  };
  for (const LockFor what_for : {LockFor::kBatch, LockFor::kUpkeep}) {
    std::ofstream(out_ / "lock") << *before;
    EXPECT_THROW(OutLock(out_, another, what_for), Interrupted);
    EXPECT_EQ("another", ReadFile(out_ / "lock"));
  }
}

TEST_F(LayoutTest, LastAttemptIgnoresOtherNames) {
  const TrialFolder trial = TrialFolderOf(out_, "0123456789ab");
  EXPECT_EQ(0u, trial.LastAttempt());
  for (const char* name : {"attempt-2", "attempt-10", "attempt-x", "attempt-99.old"}) {
    std::filesystem::create_directories(trial.folder / name);
  }
  EXPECT_EQ(10u, trial.LastAttempt());
}

TEST_F(LayoutTest, OnlyAWholeCheckpointIsOne) {
  const TrialFolder trial = TrialFolderOf(out_, "0123456789ab");
  std::filesystem::create_directories(trial.checkpoint());
  EXPECT_FALSE(HasCheckpoint(trial.checkpoint()));
  std::ofstream(trial.checkpoint() / "checkpoint.bin.tmp") << "x";
  EXPECT_FALSE(HasCheckpoint(trial.checkpoint()));
  std::ofstream(trial.checkpoint() / "checkpoint.bin") << "x";
  EXPECT_TRUE(HasCheckpoint(trial.checkpoint()));
}

}  // namespace
}  // namespace backplane
