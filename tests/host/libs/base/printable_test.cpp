#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace backplane {
namespace {

TEST(Printable, PlainTextOfAnyLanguageStays) {
  for (const char* text : {"", "expected a number, got 'x'", "±1 µs", "日本語", "🙂 of four bytes", "~"})
    EXPECT_EQ(text, Printable(text));
}

TEST(Printable, NothingMovesTheCursorOrChangesColours) {
  EXPECT_EQ("\\x1b[31mred\\x07", Printable("\x1b[31mred\x07"));
  EXPECT_EQ("a\\nb\\tc\\r", Printable("a\nb\tc\r"));
  EXPECT_EQ("\\x00", Printable(std::string_view("\0", 1)));
  EXPECT_EQ("\\x7f", Printable("\x7f"));
  EXPECT_EQ("\\x9b", Printable("\u009b")) << "starts a sequence on 8-bit terminals";
  EXPECT_EQ("a\\u202eb\\u2066\\u2028", Printable("a\u202eb\u2066\u2028")) << "would reverse the text that follows";
}

TEST(Printable, KeepsTheLinesOfATraceback) {
  EXPECT_EQ((std::vector<std::string>{"a", "", "  b\\tc"}), PrintableLines("a\n\n  b\tc\n"));
  EXPECT_TRUE(PrintableLines("").empty());
  EXPECT_EQ("a\\r", PrintableFirstLine("a\r\nb"));
  EXPECT_EQ("", PrintableFirstLine(""));
}

TEST(Printable, BytesThatAreNotUtf8AreReplacedOneByOne) {
  const std::string mark = "\uFFFD";
  EXPECT_EQ(mark, Printable("\xff"));
  EXPECT_EQ("a" + mark + "b", Printable("a\xc3"
                                        "b"))
      << "an incomplete character does not swallow the next";
  EXPECT_EQ(mark + mark, Printable("\xc0\xaf")) << "an overlong '/'";
  EXPECT_EQ(mark + mark + mark, Printable("\xed\xa0\x80")) << "half a surrogate pair";
  EXPECT_EQ(mark + mark + mark + mark, Printable("\xf4\x90\x80\x80")) << "beyond the last character";
  EXPECT_EQ(mark + mark, Printable("\xe2\x82")) << "the text ends within a character";
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ("abcdef", Printable("abcdef", 6));
  EXPECT_EQ("ab...", Printable("abcdef", 5));
  EXPECT_EQ("äö...", Printable("äöüäöüäöü", 5));
  EXPECT_EQ("..", Printable("abcdef", 2));
  EXPECT_EQ("", Printable("abcdef", 0));
  EXPECT_EQ("a...", Printable("a\x1b\x1b\x1b", 7)) << "an escape is shown whole or not at all";
  EXPECT_EQ("a\\x1b...", Printable("a\x1b\x1b\x1b", 8));
}

// The oracle: nlohmann's writer throws if a text is not UTF-8.
TEST(Printable, GivesUtf8ForAnyTwoBytesAndThree) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      for (const char* end : {"", "\x80", "\xbf\x80", "x"}) {
        const std::string shown = Printable(std::string{static_cast<char>(a), static_cast<char>(b)} + end);
        ASSERT_NO_THROW(nlohmann::json(shown).dump()) << a << " " << b;
        for (const char c : shown) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace backplane
