#include "base/text_columns.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

TEST(TextColumns, CharactersCountAndNotBytes) {
  EXPECT_EQ(5u, Columns("1 ± 2"));
  EXPECT_EQ("1 ± 2 ", PadRight("1 ± 2", 6));
  EXPECT_EQ(" 1 ± 2", PadLeft("1 ± 2", 6));
  EXPECT_EQ("too long", PadRight("too long", 3));
}

TEST(TextColumns, CutsLeaveBothEnds) {
  EXPECT_EQ("short", CutMiddle("short", 5, true));
  EXPECT_EQ("num…s=8", CutMiddle("num_env_runners=8", 7, true));
  EXPECT_EQ("nu...=8", CutMiddle("num_env_runners=8", 7, false));
  EXPECT_EQ("äb…ü", CutMiddle("äbcdeü", 4, true)) << "no character is cut in half";
  EXPECT_EQ("num_e…", CutEnd("num_env_runners=8", 6, true));
  EXPECT_EQ("num...", CutEnd("num_env_runners=8", 6, false));
}

TEST(TextColumns, CutNamesKeepTheirValues) {
  EXPECT_EQ("num_…ners=8 num_…nner=2 seed=4", CutName("num_env_runners=8 num_envs_per_env_runner=2 seed=4", 30, true));
  EXPECT_EQ("nu...rs=8 lr=1", CutName("num_env_runners=8 lr=1", 14, false));
  EXPECT_EQ("n…s=8 n…r=2 seed=4", CutName("num_env_runners=8 num_envs_per_env_runner=2 seed=4", 19, true)) << "values stay";
  EXPECT_EQ("num…r=1", CutName("num_env_runners=8 lr=1", 7, true)) << "no room for the values";
  EXPECT_EQ("a lon… name", CutName("a long and plain name", 11, true));
}

TEST(TextColumns, CutsKeepTheWidth) {
  for (size_t width = 0; width < 20; ++width) {
    for (const bool utf8 : {true, false}) {
      EXPECT_LE(Columns(CutMiddle("num_env_runners=8", width, utf8)), width);
      EXPECT_LE(Columns(CutName("num_env_runners=8 lr=1", width, utf8)), width);
      EXPECT_LE(Columns(CutEnd("num_env_runners=8", width, utf8)), width);
    }
  }
}

TEST(TextColumns, WrapsAtSpaces) {
  EXPECT_THAT(WrapWords("one two three averyverylongword four", 9),
              testing::ElementsAre("one two", "three", "averyverylongword", "four"));
  EXPECT_THAT(WrapWords("of 12 ± 3 and", 8), testing::ElementsAre("of", "12 ± 3", "and"));
  EXPECT_THAT(WrapWords("", 9), testing::IsEmpty());
}

// Hangul and Han take two cells each, a combining accent takes none (Unicode's East Asian Width).
TEST(TextColumns, WideCharactersAreTwoCells) {
  EXPECT_EQ(6u, Columns("기준선"));
  EXPECT_EQ(4u, Columns("日本"));
  EXPECT_EQ(1u, Columns("e\u0301"));
  EXPECT_EQ("기준선 ", PadRight("기준선", 7));
  EXPECT_EQ("기…", CutEnd("기준선", 4, true)) << "half of a character does not fit";
  for (size_t width = 0; width < 8; ++width) EXPECT_LE(Columns(CutMiddle("기준선과 환경", width, true)), width);
}

}  // namespace
}  // namespace backplane
