#include "base/files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/held_folder.hpp"
#include "base/scratch_folder.hpp"
#include "base/sha256.hpp"
#include "support/few_descriptors.hpp"

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
  EXPECT_FALSE(OpenStream(pipe));
  EXPECT_TRUE(LastLines(pipe, 5).empty());
  EXPECT_THAT([&] { Sha256OfFile(pipe); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("is a pipe, not a regular file")));
}

TEST(RegularFiles, GiveTheirLastLines) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "log";
  ReplaceFile(file, std::string(70000, 'a') + "\nb\n\nc\n");
  EXPECT_THAT(LastLines(file, 2), testing::ElementsAre("b", "c"));
  EXPECT_TRUE(LastLines(folder.path() / "none", 2).empty());
}

TEST(Folders, AreSyncedIfSupported) {
  const ScratchFolder folder;
  SyncFolder(folder.path());
  SyncFolder("/proc");  // does not support sync
  EXPECT_THROW(SyncFolder(folder.path() / "none"), std::runtime_error);
  EXPECT_EQ("cannot open " + folder.path().string() + ": Too many open files",
            SentenceWithoutDescriptors([&] { SyncFolder(folder.path()); }));
}

TEST(Folders, AreNamedWithTheReasonIfTheyCannotBeHeld) {
  const ScratchFolder folder;
  HeldFolder(folder.path()).Require();
  EXPECT_EQ("cannot open " + folder.path().string() + ": Too many open files",
            SentenceWithoutDescriptors([&] { HeldFolder(folder.path()).Require(); }));
}

TEST(Sha256, IsTheSameInBytesAndInDigits) {
  Sha256Digest digest;
  digest.Add("abc", 3);
  const auto bytes = digest.Bytes();
  EXPECT_EQ(0xba, bytes.front());
  EXPECT_EQ(0xad, bytes.back());
  EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Sha256("abc"));
}

}  // namespace
}  // namespace backplane
