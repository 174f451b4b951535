#include "trial/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

namespace backplane {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest()
      : dir_(std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(dir_);
  }
  ~CheckpointTest() override { std::filesystem::remove_all(dir_); }
  std::filesystem::path dir_;
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  Checkpoint saved;
  saved.meta = {{"iterations", 3}};
  saved.blobs["learner"] = {std::byte{1}, std::byte{0}, std::byte{255}};
  saved.blobs["empty"] = {};
  WriteCheckpoint(dir_, saved);
  const auto loaded = ReadCheckpoint(dir_);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->meta, saved.meta);
  EXPECT_EQ(loaded->blobs, saved.blobs);
}

TEST_F(CheckpointTest, IsAbsentWhereNoneWasWritten) { EXPECT_FALSE(ReadCheckpoint(dir_)); }

TEST_F(CheckpointTest, RefusesACutFile) {
  Checkpoint saved;
  saved.blobs["learner"].resize(1000);
  WriteCheckpoint(dir_, saved);
  std::filesystem::resize_file(dir_ / "checkpoint.bin", 500);
  EXPECT_THAT([&] { ReadCheckpoint(dir_); }, testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("cut off")));
}

TEST_F(CheckpointTest, LeavesNoTemporaryFile) {
  WriteCheckpoint(dir_, {});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

}  // namespace
}  // namespace backplane
