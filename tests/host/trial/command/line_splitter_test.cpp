#include "command/line_splitter.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Split(const std::vector<std::string>& pieces, size_t most = 100, bool finish = false) {
  LineSplitter splitter(most);
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& piece : pieces) splitter.Add(piece, keep);
  if (finish) splitter.Finish(keep);
  return lines;
}

TEST(LineSplitter, ReturnsWholeLinesForAnyChunks) {
  EXPECT_THAT(Split({"a\nbc", "d\n", "e"}), ElementsAre("a", "bcd"));
  EXPECT_THAT(Split({"a", "\n", "\n"}), ElementsAre("a", ""));
  EXPECT_THAT(Split({"a\nb"}, 100, true), ElementsAre("a", "b"));
}

TEST(LineSplitter, CarriageReturnEndsLinesOfAProgressBar) {
  EXPECT_THAT(Split({"1%\r2%\r", "3%\n"}), ElementsAre("1%", "2%", "3%"));
}

TEST(LineSplitter, KeepsTheBeginningOfALongLine) {
  EXPECT_THAT(Split({"abcdef\nx\n"}, 3), ElementsAre("abc", "x"));
  EXPECT_THAT(Split({"ab", "cd", "ef\n", "x\n"}, 3), ElementsAre("abc", "x"));
}

}  // namespace
}  // namespace backplane
