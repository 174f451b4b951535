#include "base/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::filesystem::path& path) {
  try {
    MakeOwnFolder(path);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

mode_t ModeOf(const std::filesystem::path& path) {
  struct stat found {};
  EXPECT_EQ(stat(path.c_str(), &found), 0);
  return found.st_mode & 07777;
}

TEST(OwnFolder, IsMadeForItsUserOnly) {
  const ScratchFolder shared;
  const std::filesystem::path own = shared.path() / "own";
  EXPECT_EQ(ErrorOf(own), "");
  EXPECT_EQ(ModeOf(own), 0700u);
  EXPECT_EQ(ErrorOf(own), "") << "it is there";
}

TEST(OwnFolder, RejectsWhatOthersMayHaveMade) {
  const ScratchFolder shared;
  const std::filesystem::path target = shared.path() / "target", link = shared.path() / "link", file = shared.path() / "file";
  std::filesystem::create_directory(target);
  std::filesystem::create_directory_symlink(target, link);
  std::ofstream(file) << "x";
  EXPECT_THAT(ErrorOf(link), HasSubstr("it is not a folder"));
  EXPECT_THAT(ErrorOf(file), HasSubstr("it is not a folder"));
  chmod(target.c_str(), 0777);
  EXPECT_THAT(ErrorOf(target), HasSubstr("other users can write to it"));
  EXPECT_THAT(ErrorOf(shared.path() / "missing/own"), HasSubstr("cannot be created"));
}

TEST(OwnFolder, RejectsAFolderOfADifferentUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const ScratchFolder shared;
  const std::filesystem::path theirs = shared.path() / "theirs";
  std::filesystem::create_directory(theirs);
  chmod(theirs.c_str(), 0700);
  if (chown(theirs.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "this root cannot";
  EXPECT_THAT(ErrorOf(theirs), HasSubstr("it belongs to user 12345; remove it, or set TMPDIR"));
}

TEST(TemporaryFolder, HasAFreeNameAndIsForItsUserOnly) {
  const std::filesystem::path first = MakeTemporaryFolder("backplane-test"), second = MakeTemporaryFolder("backplane-test");
  EXPECT_NE(first, second);
  EXPECT_EQ(ModeOf(first), 0700u);
  EXPECT_THAT(first.filename().string(), testing::StartsWith("backplane-test-"));
  std::filesystem::remove(first), std::filesystem::remove(second);
}

}  // namespace
}  // namespace backplane
