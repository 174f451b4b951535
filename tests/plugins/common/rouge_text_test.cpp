// Tokens of regular and irregular texts.
#include <gmock/gmock.h>

#include "rouge/tokens.hpp"

namespace backplane::rouge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_literals;

std::vector<std::string> Tokens(const Options& options, std::string_view text) {
  Reader reader(options);
  Text read;
  reader.Read(text, &read);
  std::vector<std::string> out;
  for (const Id token : read.tokens) out.push_back(reader.vocabulary().word(token));
  return out;
}

constexpr Options kGoogle{.tokenizer = Tokenizer::kGoogle}, kWords{.tokenizer = Tokenizer::kWhitespace},
    kChars{.tokenizer = Tokenizer::kChar}, kPieces{.impl = Impl::kPltrdy, .tokenizer = Tokenizer::kWhitespace};

TEST(RougeTokens, GoogleKeepsRunsOfAsciiLettersAndDigits) {
  EXPECT_THAT(Tokens(kGoogle, "Don't 3.5GB-wide_caf\u00e9s"), ElementsAre("don", "t", "3", "5gb", "wide", "caf", "s"));
  EXPECT_THAT(Tokens(kGoogle, "한글 only"), ElementsAre("only"));
}

TEST(RougeTokens, GoogleKeepsTheTwoLettersWhoseLowerCaseIsAscii) {
  EXPECT_THAT(Tokens(kGoogle, "273 \u212Aelvin"), ElementsAre("273", "kelvin"));
  EXPECT_THAT(Tokens(kGoogle, "D\u0130YAR"), ElementsAre("di", "yar")) << "a combining dot follows the i";
  EXPECT_THAT(Tokens(kGoogle, "x\u212Ay"), ElementsAre("xky"));
}

TEST(RougeTokens, WhitespaceSplitsWherePythonDoes) {
  EXPECT_THAT(Tokens(kWords, "a\u00A0b\u3000c\x1F d\u2028e\u0085f"), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(Tokens(kWords, "a\u200Bb\uFEFFc"), ElementsAre("a\u200Bb\uFEFFc")) << "zero-width characters are no whitespace";
  EXPECT_THAT(Tokens(kWords, "Case KEPT"), ElementsAre("Case", "KEPT"));
}

TEST(RougeTokens, CharactersAreComposed) {
  EXPECT_THAT(Tokens(kChars, "\u1112\u1161\u11AB\u1100\u1173\u11AF"), ElementsAre("한", "글"));
  EXPECT_THAT(Tokens(kChars, "e\u0301 \u3000\u00A0x"), ElementsAre("\u00e9", "x"));
  EXPECT_THAT(Tokens(kChars, "가\u11A8"), ElementsAre("각"));
  EXPECT_THAT(Tokens(kChars, "\u1161\u11A8"), ElementsAre("\u1161", "\u11A8")) << "no syllable without a first consonant";
}

TEST(RougeTokens, HaveAReplacementForEachMaximalPartOfABrokenSequence) {
  // As Python's bytes.decode("utf-8", "replace"): a surrogate's three bytes become three characters, a cut sequence one.
  EXPECT_THAT(Tokens(kWords, "\xED\xA0\x80"), ElementsAre("\uFFFD\uFFFD\uFFFD"));
  EXPECT_THAT(Tokens(kWords, "a\xE2\x84 b\xF0\x9F\x98"), ElementsAre("a\uFFFD", "b\uFFFD"));
  EXPECT_THAT(Tokens(kWords, "\xC0\xAF\xFF"), ElementsAre("\uFFFD\uFFFD\uFFFD"));
  EXPECT_THAT(Tokens(kWords, "\xF4\x90\x80\x80"), ElementsAre("\uFFFD\uFFFD\uFFFD\uFFFD"));
  EXPECT_THAT(Tokens(kChars,
                     "\xEA\xB0"
                     "가"),
              ElementsAre("\uFFFD", "가"));
  EXPECT_THAT(Tokens(kGoogle, "a\xE2\x84z\xC4"), ElementsAre("a", "z"));
}

TEST(RougeTokens, MayHoldANul) {
  EXPECT_THAT(Tokens(kWords, "a\0b c"s), ElementsAre("a\0b"s, "c"));
  EXPECT_THAT(Tokens(kChars, "a\0"s), ElementsAre("a", "\0"s));
  EXPECT_THAT(Tokens(kGoogle, "a\0b"s), ElementsAre("a", "b"));
}

TEST(RougeTokens, AreNoneInATextOfSpaces) {
  for (const Options& options : {kGoogle, kWords, kChars})
    for (const std::string_view text : {"", " \n\t", "\u3000\u00A0"}) EXPECT_THAT(Tokens(options, text), IsEmpty());
}

TEST(RougeTokens, PltrdyHasEmptyTokensForBlankPieces) {
  EXPECT_THAT(Tokens(kPieces, "a b..c. "), ElementsAre("a", "b", "c", ""));
  EXPECT_THAT(Tokens(kPieces, "..."), IsEmpty());
  EXPECT_THAT(Tokens(kPieces, " "), ElementsAre(""));
}

TEST(RougeTokens, PltrdyAcceptsADifferentTokenizer) {
  const Options google{.impl = Impl::kPltrdy, .tokenizer = Tokenizer::kGoogle, .stem = true};
  EXPECT_THAT(Tokens(google, "Using it. Well..."), ElementsAre("use", "it", "well"));
  const Options chars{.impl = Impl::kPltrdy, .tokenizer = Tokenizer::kChar};
  EXPECT_THAT(Tokens(chars, "가 나.다"), ElementsAre("가", "나", "다"));
}

TEST(RougeLetters, CountJamoAndHalfWidthForms) {
  Letters letters;
  letters.Add("가\u1100\u314B\uFFA1 3! a\u00e9漢");
  EXPECT_EQ(letters.foreign, 5);
  EXPECT_EQ(letters.all, 7);
  EXPECT_EQ(letters.first_foreign, U'가');
}

TEST(RougeLetters, AreForeignOutsideTheLatinScript) {
  // One letter of each script, then letters of Latin-based alphabets: Vietnamese, Polish, Turkish, German, Hausa, ligatures.
  for (const char* text : {"ж", "λ", "\u1F00", "ह", "漢", "ひ", "ア", "ש", "ع", "ก", "ա", "ქ", "አ", "த", "𠀀"}) {
    Letters letters;
    letters.Add(text);
    EXPECT_EQ(letters.foreign, 1) << text;
  }
  for (const char* text : {"ế", "ł", "ı", "ß", "ẞ", "ɓ", "æ", "ﬁ", "Ａ", "\u212A", "\u2C61"}) {
    Letters letters;
    letters.Add(text);
    EXPECT_EQ(letters.all, 1) << text;
    EXPECT_EQ(letters.foreign, 0) << text;
  }
}

}  // namespace
}  // namespace backplane::rouge
