#include "base/file_name.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(FileName, IsOneThatAnyFolderCanHold) {
  for (const char* good : {"a.png", "memory vs speed.png", "größe.png", "a..b", "~"}) EXPECT_TRUE(IsFileName(good)) << good;
}

TEST(FileName, LeavesNoFolderHidesNothingAndCanBePrinted) {
  for (const char* bad : {"", ".", "..", ".hidden.png", "a/b.png", "/a.png", "a\\b.png", "a\nb.png", "a\x7f", "caf\xe9.png"})
    EXPECT_FALSE(IsFileName(bad)) << bad;
  EXPECT_FALSE(IsFileName(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace backplane
