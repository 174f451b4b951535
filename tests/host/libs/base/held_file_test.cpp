#include "base/held_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

class HeldFileTest : public testing::Test {
 protected:
  HeldFileTest() {
    std::filesystem::create_directories(folder_);
    Append("first\n");
  }
  ~HeldFileTest() override { std::filesystem::remove_all(folder_); }

  void Append(const std::string& text) { std::ofstream(file_, std::ios::app) << text; }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("held_file_test_" + std::to_string(getpid()));
  const std::filesystem::path file_ = folder_ / "record";
};

TEST_F(HeldFileTest, AcceptsGrowth) {
  HeldFile held(file_);
  Append("second\n");
  EXPECT_EQ(FileLoss::kNone, held.Look());
  EXPECT_EQ("first\nsecond\n", held.Content());
}

TEST_F(HeldFileTest, NoticesDeletedFileAndStillReadsIt) {
  HeldFile held(file_);
  std::filesystem::remove(file_);
  EXPECT_EQ(FileLoss::kDeleted, held.Look());
  EXPECT_EQ("first\n", held.Content());
}

TEST_F(HeldFileTest, NoticesMovedFile) {
  HeldFile held(file_);
  std::filesystem::rename(file_, folder_ / "elsewhere");
  EXPECT_EQ(FileLoss::kDeleted, held.Look());
}

TEST_F(HeldFileTest, NoticesFileOfSameContentInItsPlace) {
  HeldFile held(file_);
  std::filesystem::copy_file(file_, folder_ / "copy");
  std::filesystem::rename(folder_ / "copy", file_);
  EXPECT_EQ(FileLoss::kReplaced, held.Look());
  EXPECT_EQ("first\n", held.Content());
}

TEST_F(HeldFileTest, NoticesCutFileEvenIfItHasGrownSince) {
  HeldFile held(file_);
  Append("second and long\n");
  EXPECT_EQ(FileLoss::kNone, held.Look());
  std::filesystem::resize_file(file_, 0);
  Append("third\n");
  EXPECT_EQ(FileLoss::kCut, held.Look());
  Append("more than there was before\n");
  EXPECT_EQ(FileLoss::kCut, held.Look());
}

TEST_F(HeldFileTest, RejectsMissingFile) { EXPECT_THROW(HeldFile(folder_ / "none"), std::runtime_error); }

}  // namespace
}  // namespace backplane
