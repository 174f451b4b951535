#include "supervise/layout.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

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
  EXPECT_EQ(folder_ / "run.1", MoveAside(out_));
  std::filesystem::create_directories(out_);
  EXPECT_EQ(folder_ / "run.2", MoveAside(out_ / ""));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(LayoutTest, FolderInUseIsRefusedAndNotMoved) {
  const OutLock lock(out_);
  EXPECT_THROW(OutLock{out_}, std::runtime_error);
  EXPECT_THROW(MoveAside(out_), std::runtime_error);
}

TEST_F(LayoutTest, LastAttemptIgnoresOtherNames) {
  const TrialFolder trial = TrialFolderOf(out_, "0123456789ab");
  EXPECT_EQ(0u, trial.LastAttempt());
  for (const char* name : {"attempt-2", "attempt-10", "attempt-x", "attempt-99.old"}) {
    std::filesystem::create_directories(trial.folder / name);
  }
  EXPECT_EQ(10u, trial.LastAttempt());
}

TEST_F(LayoutTest, EmptyCheckpointFolderIsNone) {
  const TrialFolder trial = TrialFolderOf(out_, "0123456789ab");
  std::filesystem::create_directories(trial.checkpoint());
  EXPECT_FALSE(trial.HasCheckpoint());
  std::ofstream(trial.checkpoint() / "learner.bin") << "x";
  EXPECT_TRUE(trial.HasCheckpoint());
}

}  // namespace
}  // namespace backplane
