// The disk space of a results folder made by hand.
#include "record/disk_use.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

class DiskUseTest : public testing::Test {
 protected:
  uint64_t Write(const fs::path& file) {
    fs::create_directories((out_ / file).parent_path());
    ReplaceFile(out_ / file, std::string(20000, 'x'));
    return SizeOf(file);
  }
  uint64_t SizeOf(const fs::path& file) const {
    struct stat status {};
    EXPECT_EQ(0, lstat((out_ / file).c_str(), &status));
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  const ScratchFolder scratch_;
  const fs::path out_ = scratch_.path() / "out";
};

TEST_F(DiskUseTest, CountsCheckpointsOfTrialsAndKeptStarts) {
  const uint64_t checkpoints = Write("trials/a/checkpoint/checkpoint.bin") +
                               Write("trials/a/checkpoint.before-attempt-2/best.bin") + Write("starts/0123/start.bin");
  const uint64_t others = Write("events.jsonl") + Write("trials/a/attempt-1/result.json") + Write("starts/0123/source.json");
  const DiskUse use = DiskUseOf(out_);
  EXPECT_EQ(use.checkpoints, checkpoints);
  uint64_t folders = 0;
  for (const auto& entry : fs::recursive_directory_iterator(out_))
    if (entry.is_directory()) folders += SizeOf(fs::relative(entry.path(), out_));
  EXPECT_EQ(use.bytes, checkpoints + others + folders);
}

TEST_F(DiskUseTest, CountsAFileWithTwoNamesOnceAndFollowsNoLink) {
  Write("trials/a/checkpoint/checkpoint.bin");
  const uint64_t before = DiskUseOf(out_).bytes;
  fs::create_hard_link(out_ / "trials/a/checkpoint/checkpoint.bin", out_ / "again.bin");
  fs::create_directory_symlink(out_ / "trials", out_ / "linked");
  fs::create_symlink(out_ / "trials/a/checkpoint/checkpoint.bin", out_ / "linked.bin");
  EXPECT_EQ(DiskUseOf(out_).bytes, before + SizeOf("linked") + SizeOf("linked.bin"));
}

TEST_F(DiskUseTest, IsZeroWithoutAFolder) { EXPECT_EQ(DiskUseOf(out_ / "none").bytes, 0u); }

}  // namespace
}  // namespace backplane
