#include "base/files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/scratch_folder.hpp"

namespace backplane {
namespace {

TEST(RegularFiles, AreReadUpToTheirLimit) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "text";
  ReplaceFile(file, "12345");
  EXPECT_EQ("12345", ReadRegularFile(file, 5).text);
  EXPECT_EQ("is longer than 4 bytes", ReadRegularFile(file, 4).why_not);
  EXPECT_EQ("12345", ReadFile(file));
  EXPECT_EQ("No such file or directory", ReadRegularFile(folder.path() / "none", 5).why_not);
  EXPECT_THAT(ReadFile("/proc/self/stat").value_or(""), testing::HasSubstr(" ")) << "has no size before it is read";
}

TEST(RegularFiles, NothingElseIsOpened) {
  const ScratchFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ("is a pipe, not a regular file", ReadRegularFile(pipe, 5).why_not);
  EXPECT_EQ("is a device, not a regular file", ReadRegularFile("/dev/zero", 5).why_not);
  EXPECT_EQ("is a folder, not a regular file", ReadRegularFile(folder.path(), 5).why_not);
  EXPECT_FALSE(ReadFile(pipe));
}

}  // namespace
}  // namespace backplane
