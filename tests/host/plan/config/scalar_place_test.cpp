// Places of characters within a scalar, compared with '#' marks found by hand.
#include "yaml/scalar_place.hpp"

#include <gtest/gtest.h>

#include "yaml/errors.hpp"

namespace backplane {
namespace {

// The column of the '#' in the first value of `text`.
int ColumnOfHash(const std::string& text) {
  Errors errors;
  const auto source = MakeSource("e.yaml", ".", text, 0);
  const std::optional<Node> root = ParseDocument(text, source, &errors);
  EXPECT_TRUE(root && errors.empty()) << text;
  const Node& value = root->entries.at(0).value;
  return PlaceWithin(value, value.text.find('#')).column;
}

TEST(ScalarPlace, CountsPlainText) {
  EXPECT_EQ(ColumnOfHash("key: ab#c"), 8);
  EXPECT_EQ(ColumnOfHash("key:   a#b"), 9);
}

TEST(ScalarPlace, CountsSingleQuotes) {
  EXPECT_EQ(ColumnOfHash("key: '#'"), 7);
  EXPECT_EQ(ColumnOfHash("key: 'a''b\\#'"), 12);
}

TEST(ScalarPlace, CountsEscapesOfDoubleQuotes) {
  EXPECT_EQ(ColumnOfHash(R"(key: "ab#")"), 9);
  EXPECT_EQ(ColumnOfHash(R"(key: "\\\"#")"), 11);
  EXPECT_EQ(ColumnOfHash(R"(key: "\x41\u00e9\U0001F600\N\L\_#")"), 33);
  EXPECT_EQ(ColumnOfHash("key: \"\xc3\xa9#\""), 9) << "bytes";
}

TEST(ScalarPlace, KeepsThePlaceOfSeveralLines) {
  EXPECT_EQ(ColumnOfHash("key: |\n  a#\n"), 6);
  EXPECT_EQ(ColumnOfHash("key: >\n  a#\n"), 6);
  EXPECT_EQ(ColumnOfHash("key: a\n  b#\n"), 6);
  EXPECT_EQ(ColumnOfHash("key: \"a\n  b#\"\n"), 6);
}

}  // namespace
}  // namespace backplane
