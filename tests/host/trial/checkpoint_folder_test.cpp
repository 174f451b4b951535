#include "trial/checkpoint_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <utility>

#include "base/scratch_folder.hpp"
#include "record/peek_header.hpp"
#include "support/file_size_limit.hpp"
#include "trial/named_checkpoint.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kOwnTrial[] = "0123456789abcdef";

class CheckpointFolderTest : public testing::Test {
 protected:
  static Checkpoint Of(uint64_t iterations, const std::string& trial = kOwnTrial) {
    Checkpoint checkpoint;
    checkpoint.header.trial_id = trial;
    checkpoint.header.iterations = iterations;
    checkpoint.parts["learner"].resize(100, static_cast<std::byte>(iterations));
    return checkpoint;
  }
  static Checkpoint OfBest(uint64_t iterations) {
    Checkpoint checkpoint = Of(iterations);
    checkpoint.header.best = BestScore{"eval/return", 1, static_cast<double>(iterations), iterations, 10 * iterations};
    return checkpoint;
  }
  void Damage(const std::string& name) {
    std::fstream file(dir_ / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  uint64_t IterationsIn(const std::string& name) { return ReadCheckpoint(dir_ / name, kOwnTrial).header.iterations; }

  const ScratchFolder scratch_;
  const fs::path dir_ = scratch_.path() / "checkpoint";
};

// A process that repeats this until the object is destroyed.
class Forever {
 public:
  explicit Forever(const std::function<void()>& work) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      for (;;) work();
    } catch (...) {
      _exit(1);
    }
  }
  ~Forever() { Kill(); }
  Forever(const Forever&) = delete;

  bool Runs() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ > 0;
  }

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST_F(CheckpointFolderTest, IsEmptyBeforeTheFirstSave) {
  CheckpointFolder folder(dir_, kOwnTrial);
  EXPECT_FALSE(folder.Newest());
  EXPECT_FALSE(HasCheckpoint(dir_));
  EXPECT_TRUE(folder.warnings().empty());
}

TEST_F(CheckpointFolderTest, KeepsTheLastTwo) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1));
  EXPECT_THAT(Names(), ElementsAre("checkpoint.bin"));
  for (const uint64_t iterations : {2, 3, 4}) {
    folder.Save(Of(iterations));
    EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.bin"));
    EXPECT_EQ(IterationsIn("checkpoint.bin"), iterations);
    EXPECT_EQ(IterationsIn("checkpoint.1.bin"), iterations - 1);
  }
  EXPECT_EQ(folder.Newest()->header.iterations, 4u);
}

// If the folder is moved while its trial runs, a copy may get the name; it belongs to a different trial.
TEST_F(CheckpointFolderTest, IsTheOneThatTheTrialHolds) {
  const fs::path trial = dir_ / "trial", moved = dir_ / "moved";
  fs::create_directories(trial / "attempt-1");
  CheckpointFolder folder(trial / "checkpoint", kOwnTrial);
  folder.Save(Of(1));
  HoldFolders(trial / "attempt-1", trial / "checkpoint");
  fs::rename(trial, moved);
  CheckpointFolder(trial / "checkpoint", kOwnTrial).Save(Of(7));  // follows the moved trial
  EXPECT_FALSE(fs::exists(trial));
  fs::create_directories(trial / "checkpoint");
  fs::copy(moved / "checkpoint" / "checkpoint.1.bin", trial / "checkpoint" / "checkpoint.bin");
  EXPECT_EQ(folder.Newest()->header.iterations, 7u);
  folder.Refuse("the learner refuses it");
  EXPECT_EQ(folder.Newest()->header.iterations, 1u);
  EXPECT_TRUE(fs::exists(trial / "checkpoint" / "checkpoint.bin")) << "of a different trial";
  EXPECT_TRUE(fs::exists(moved / "checkpoint" / "checkpoint.bin.damaged"));
}

TEST_F(CheckpointFolderTest, AnyNumberCanBeKept) {
  CheckpointFolder one(dir_, kOwnTrial, 1);
  one.Save(Of(1)), one.Save(Of(2));
  EXPECT_THAT(Names(), ElementsAre("checkpoint.bin"));
  CheckpointFolder four(dir_, kOwnTrial, 4);
  for (const uint64_t iterations : {3, 4, 5, 6, 7}) four.Save(Of(iterations));
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.2.bin", "checkpoint.3.bin", "checkpoint.bin"));
  EXPECT_EQ(IterationsIn("checkpoint.3.bin"), 4u);
}

// Killed in the middle: the file has both names, and the new file has none yet.
TEST_F(CheckpointFolderTest, RecoversFromAnInterruptedReplace) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1)), folder.Save(Of(2));
  fs::remove(dir_ / "checkpoint.1.bin");
  fs::create_hard_link(dir_ / "checkpoint.bin", dir_ / "checkpoint.1.bin");
  fs::create_hard_link(dir_ / "checkpoint.bin", dir_ / "checkpoint.1.bin.tmp");
  std::ofstream(dir_ / "checkpoint.bin.tmp") << "half of what was to come";
  EXPECT_EQ(folder.Newest()->header.iterations, 2u);
  folder.Save(Of(3));
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.bin"));
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 2u);
  folder.Save(Of(4));
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 3u);
}

// Reads as fast as possible while a different process replaces, until several were seen: a busy disk may take seconds for each.
TEST_F(CheckpointFolderTest, HasAWholeCheckpointAtEveryMoment) {
  CheckpointFolder(dir_, kOwnTrial).Save(Of(1));
  Forever writer(
      [&, folder = CheckpointFolder(dir_, kOwnTrial), iterations = uint64_t{1}]() mutable { folder.Save(Of(++iterations)); });
  uint64_t last = 0, seen = 0;
  while (seen < 10 && writer.Runs()) {
    const uint64_t now = IterationsIn("checkpoint.bin");  // throws if the file is missing or incomplete
    EXPECT_GE(now, last);
    seen += now > last;
    last = now;
  }
  writer.Kill();
  EXPECT_EQ(seen, 10u);
  EXPECT_GE(CheckpointFolder(dir_, kOwnTrial).Newest()->header.iterations, last);
}

TEST_F(CheckpointFolderTest, SetsADamagedOneAsideAndUsesTheOneBefore) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1)), folder.Save(Of(2));
  Damage("checkpoint.bin");
  EXPECT_EQ(folder.Newest()->header.iterations, 1u);
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.bin.damaged"));
  EXPECT_TRUE(HasCheckpoint(dir_)) << "the one before is usable";
  ASSERT_EQ(folder.warnings().size(), 1u);
  EXPECT_THAT(folder.warnings()[0],
              testing::AllOf(HasSubstr("set aside as checkpoint.bin.damaged"), HasSubstr("\"learner\" is damaged"),
                             HasSubstr("it resumes from checkpoint.1.bin, after iteration 1")));
  folder.Save(Of(2)), folder.Save(Of(3));
  Damage("checkpoint.bin"), Damage("checkpoint.1.bin");
  EXPECT_FALSE(folder.Newest());
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin.damaged", "checkpoint.bin.damaged", "checkpoint.bin.damaged.1"));
  EXPECT_FALSE(HasCheckpoint(dir_));
  ASSERT_EQ(folder.warnings().size(), 3u);
  EXPECT_THAT(folder.warnings()[2], HasSubstr("the trial starts from scratch"));
}

TEST_F(CheckpointFolderTest, SetsACheckpointOfADifferentTrialAside) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1));
  folder.Save(Of(2, "fedcba9876543210"));
  EXPECT_EQ(folder.Newest()->header.iterations, 1u);
  EXPECT_THAT(folder.warnings().at(0), HasSubstr("belongs to another trial"));
}

TEST_F(CheckpointFolderTest, SetsACheckpointAsideThatALearnerRejects) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1)), folder.Save(Of(2));
  ASSERT_TRUE(folder.Newest());
  folder.Refuse("learner.x: load: it has another number of legs");
  EXPECT_EQ(folder.Newest()->header.iterations, 1u);
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.bin.damaged"));
  ASSERT_EQ(folder.warnings().size(), 1u);
  EXPECT_THAT(folder.warnings()[0], testing::AllOf(HasSubstr("number of legs"), HasSubstr("it resumes from checkpoint.1.bin")));
}

TEST_F(CheckpointFolderTest, FailedSaveKeepsTheOldOnes) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(1)), folder.Save(Of(2));
  Checkpoint large = Of(3);
  large.parts["learner"].resize(1 << 20);
  {
    const FileSizeLimit limit(1 << 16);
    EXPECT_THAT([&] { folder.Save(large); }, testing::ThrowsMessage<std::runtime_error>(
                                                 testing::AllOf(HasSubstr("checkpoint.bin.tmp"), HasSubstr("File too large"))));
  }
  EXPECT_THAT(Names(), ElementsAre("checkpoint.1.bin", "checkpoint.bin")) << "a partial file is removed";
  EXPECT_EQ(IterationsIn("checkpoint.bin"), 2u);
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 1u);
}

// best.bin and checkpoint.bin are one file as long as they are the same state.
TEST_F(CheckpointFolderTest, GivesTheBestASecondName) {
  CheckpointFolder folder(dir_, kOwnTrial, 2);
  folder.Save(Of(1));
  folder.Save(OfBest(2), true);
  EXPECT_TRUE(fs::equivalent(dir_ / "best.bin", dir_ / "checkpoint.bin"));
  EXPECT_THAT(Names(), ElementsAre("best.bin", "checkpoint.1.bin", "checkpoint.bin"));
  folder.Save(Of(3)), folder.Save(Of(4)), folder.Save(Of(5));
  EXPECT_THAT(Names(), ElementsAre("best.bin", "checkpoint.1.bin", "checkpoint.bin"));
  EXPECT_EQ(IterationsIn("best.bin"), 2u);
  EXPECT_EQ(folder.Newest()->header.iterations, 5u);
  EXPECT_EQ(folder.best()->iteration, 2u);
}

// A checkpoint between two numbered ones is not one of them.
TEST_F(CheckpointFolderTest, ABestBetweenTwoTakesNoNumber) {
  CheckpointFolder folder(dir_, kOwnTrial, 3);
  const auto only_best = [](uint64_t iterations) {
    Checkpoint checkpoint = OfBest(iterations);
    checkpoint.header.only_best = true;
    return checkpoint;
  };
  folder.Save(Of(10));
  folder.Save(only_best(12), true), folder.Save(only_best(14), true);
  folder.Save(Of(20));
  folder.Save(only_best(21), true);
  CheckpointFolder resumed(dir_, kOwnTrial, 3);
  EXPECT_EQ(resumed.Newest()->header.iterations, 21u);
  resumed.Save(Of(30));
  EXPECT_THAT(Names(), ElementsAre("best.bin", "checkpoint.1.bin", "checkpoint.2.bin", "checkpoint.bin"));
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 20u);
  EXPECT_EQ(IterationsIn("checkpoint.2.bin"), 10u);
  EXPECT_EQ(IterationsIn("best.bin"), 21u);
}

// A kill came after the file got the name best.bin, and before it became checkpoint.bin.
TEST_F(CheckpointFolderTest, ResumesFromABestThatIsNewer) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(OfBest(1), true);
  CheckpointFolder(scratch_.path() / "later", kOwnTrial).Save(OfBest(2), true);
  fs::rename(scratch_.path() / "later" / "best.bin", dir_ / "best.bin");
  fs::create_hard_link(dir_ / "best.bin", dir_ / "checkpoint.bin.tmp");
  EXPECT_EQ(folder.Newest()->header.iterations, 2u);
  EXPECT_EQ(folder.best()->iteration, 2u);
  folder.Save(Of(3));  // the draft is a second name of best.bin
  EXPECT_EQ(IterationsIn("best.bin"), 2u);
  EXPECT_EQ(IterationsIn("checkpoint.bin"), 3u);
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 1u);
  for (const char* name : {"checkpoint.bin", "checkpoint.1.bin"}) Damage(name);
  EXPECT_EQ(folder.Newest()->header.iterations, 2u) << "better than a start from scratch";
  for (const char* name : {"checkpoint.bin.damaged", "checkpoint.1.bin.damaged"}) fs::remove(dir_ / name);
  EXPECT_TRUE(HasCheckpoint(dir_));
  Damage("best.bin");
  EXPECT_FALSE(folder.Newest());
  EXPECT_FALSE(folder.best());
  EXPECT_THAT(Names(), ElementsAre("best.bin.damaged"));
}

// At the end, the learner may be ahead of its rows: the trial cannot resume there.
TEST_F(CheckpointFolderTest, ABestOfTheEndIsNoPlaceToResume) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(3));
  Checkpoint end = OfBest(4);
  end.header.at_end = true;
  folder.SaveBest(end);
  EXPECT_EQ(IterationsIn("best.bin"), 4u);
  EXPECT_EQ(folder.Newest()->header.iterations, 3u);
  EXPECT_EQ(folder.best()->iteration, 4u);
  folder.Save(end);
  folder.Save(end, true);  // the evaluation of the same state
  EXPECT_EQ(IterationsIn("checkpoint.1.bin"), 3u);
}

TEST_F(CheckpointFolderTest, AFailedSaveKeepsTheBest) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(OfBest(1), true);
  Checkpoint large = OfBest(2);
  large.parts["learner"].resize(1 << 20);
  {
    const FileSizeLimit limit(1 << 16);
    EXPECT_THROW(folder.Save(large, true), std::runtime_error);
    EXPECT_THROW(folder.SaveBest(large), std::runtime_error);
  }
  EXPECT_THAT(Names(), ElementsAre("best.bin", "checkpoint.bin"));
  EXPECT_EQ(IterationsIn("best.bin"), 1u);
}

TEST_F(CheckpointFolderTest, RemovesThoseThatALargerKeepHasLeft) {
  CheckpointFolder four(dir_, kOwnTrial, 4);
  for (const uint64_t iterations : {1, 2, 3, 4}) four.Save(Of(iterations));
  CheckpointFolder two(dir_, kOwnTrial, 2);
  for (const char* name : {"checkpoint.bin", "checkpoint.1.bin"}) Damage(name);
  EXPECT_EQ(two.Newest()->header.iterations, 2u) << "until the first save, all can be used";
  two.Save(Of(5));
  for (const char* name : {"checkpoint.bin.damaged", "checkpoint.1.bin.damaged"}) fs::remove(dir_ / name);
  EXPECT_THAT(Names(), ElementsAre("checkpoint.bin"));
}

// Opening a FIFO for reading would wait for a writer.
TEST_F(CheckpointFolderTest, IgnoresAFifo) {
  fs::create_directories(dir_);
  ASSERT_EQ(mkfifo((dir_ / "checkpoint.bin").c_str(), 0600), 0);
  EXPECT_FALSE(HasCheckpoint(dir_));
  EXPECT_FALSE(CheckpointFolder(dir_, kOwnTrial).Newest());
  EXPECT_THAT([&] { ReadCheckpoint(dir_ / "checkpoint.bin", kOwnTrial); },
              testing::ThrowsMessage<CheckpointError>(HasSubstr("it is not a file")));
}

TEST_F(CheckpointFolderTest, AreFoundByName) {
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(3));
  folder.Save(Of(7));
  EXPECT_EQ(7u, ReadNamedCheckpoint(dir_, kOwnTrial, "last").header.iterations);
  EXPECT_EQ(3u, ReadNamedCheckpoint(dir_, kOwnTrial, "3").header.iterations);
  fs::copy_file(dir_ / "checkpoint.1.bin", dir_ / kBestCheckpointFile);
  EXPECT_EQ(3u, ReadNamedCheckpoint(dir_, kOwnTrial, "best").header.iterations);
  Damage("checkpoint.1.bin");
  EXPECT_EQ(3u, ReadNamedCheckpoint(dir_, kOwnTrial, "3").header.iterations);  // the best one has that number, too
}

TEST_F(CheckpointFolderTest, APeekedHeaderNeedsAWholeOne) {
  const fs::path file = dir_ / "checkpoint.bin";
  CheckpointFolder(dir_, kOwnTrial).Save(Of(3));
  ASSERT_TRUE(PeekHeader(file));
  EXPECT_EQ(3u, PeekHeader(file)->iterations);
  EXPECT_FALSE(PeekHeader(dir_ / "checkpoint.1.bin"));
  EXPECT_FALSE(PeekHeader(dir_));
  ASSERT_EQ(mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(PeekHeader(dir_ / "fifo"));
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(15).put('\x7f');  // the size of the header
  EXPECT_FALSE(PeekHeader(file));
  for (const size_t bytes : {60, 20, 8, 0}) {
    fs::resize_file(file, bytes);
    EXPECT_FALSE(PeekHeader(file)) << bytes;
  }
}

TEST_F(CheckpointFolderTest, AnUnknownNameListsTheOthers) {
  const auto why = [&](const std::string& name) -> std::string {
    try {
      ReadNamedCheckpoint(dir_, kOwnTrial, name);
    } catch (const CheckpointError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(dir_.string() + ": expected checkpoint 'last', got none", why("last"));
  CheckpointFolder folder(dir_, kOwnTrial);
  folder.Save(Of(3));
  folder.Save(Of(7));
  Damage("checkpoint.1.bin");
  EXPECT_EQ(dir_.string() + ": expected checkpoint 'best', got checkpoint.bin (after iteration 7), checkpoint.1.bin (damaged)",
            why("best"));
  EXPECT_THAT(why("3"), HasSubstr("expected checkpoint '3', got checkpoint.bin (after iteration 7)"));
  for (const char* name : {"last", "best", "0", "12"}) EXPECT_EQ("", WhyNoCheckpointName(name));
  for (const char* name : {"", "first", "-1", "3x", "99999999999999999999"})
    EXPECT_EQ("--checkpoint: expected last, best, start or a number of iterations, got '" + std::string(name) + "'",
              WhyNoCheckpointName(name));
}

}  // namespace
}  // namespace backplane
