#include "results/line_tail.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/scratch_folder.hpp"

namespace backplane {
namespace {

class LineTailTest : public testing::Test {
 protected:
  void Write(const std::string& text, std::ios::openmode how = std::ios::app) { std::ofstream(file_, how) << text; }
  std::vector<std::string> Read(size_t most_bytes = 1 << 16) {
    std::vector<std::string> lines;
    tail_.Read(most_bytes, [&](const std::string& line) { lines.push_back(line); });
    return lines;
  }

  const ScratchFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "lines";
  LineTail tail_{file_};
};

using Lines = std::vector<std::string>;

TEST_F(LineTailTest, EachLineIsReadOnce) {
  EXPECT_EQ(Lines{}, Read());
  Write("one\ntwo\n");
  EXPECT_EQ((Lines{"one", "two"}), Read());
  EXPECT_EQ(Lines{}, Read());
  Write("three\n");
  EXPECT_FALSE(tail_.IsAnew());
  EXPECT_EQ(Lines{"three"}, Read());
}

TEST_F(LineTailTest, ATornLineWaitsForItsEnd) {
  Write("one\ntw");
  EXPECT_EQ(Lines{"one"}, Read());
  EXPECT_EQ(Lines{}, Read());
  Write("o\n");
  EXPECT_EQ(Lines{"two"}, Read());
}

TEST_F(LineTailTest, UnreadLinesAreReadNextTime) {
  Write("first\nsecond\nthird\n");
  EXPECT_EQ(Lines{"first"}, Read(8));
  EXPECT_EQ((Lines{"second", "third"}), Read());
  Write(std::string(100, 'x') + "\n");
  EXPECT_EQ(Lines{std::string(100, 'x')}, Read(8)) << "one line is longer than a read";
}

TEST_F(LineTailTest, ACutRewrittenOrReplacedFileIsReadFromItsStart) {
  Write("one\ntwo\n");
  Read();
  Write("one\n", std::ios::trunc);
  EXPECT_TRUE(tail_.IsAnew());
  EXPECT_EQ(Lines{"one"}, Read());
  Write("eins\nzwei\n", std::ios::trunc);
  EXPECT_TRUE(tail_.IsAnew()) << "longer than before, with different words";
  EXPECT_EQ((Lines{"eins", "zwei"}), Read());
  std::filesystem::rename(file_, folder_.path() / "old");
  Write("eins\nzwei\ndrei\n");
  EXPECT_TRUE(tail_.IsAnew()) << "a different file";
  EXPECT_EQ((Lines{"eins", "zwei", "drei"}), Read());
  EXPECT_FALSE(tail_.IsAnew());
}

}  // namespace
}  // namespace backplane
