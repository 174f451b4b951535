// Stems of NLTK's default mode. tests/parity/rouge_test.cpp compares a vocabulary of tens of thousands of words with NLTK
// itself.
#include <gtest/gtest.h>

#include "rouge/porter.hpp"

namespace backplane::rouge {
namespace {

std::string Stem(std::string word) {
  PorterStem(&word);
  return word;
}

TEST(PorterStem, EqualsThePapersExamples) {
  EXPECT_EQ(Stem("caresses"), "caress");
  EXPECT_EQ(Stem("ponies"), "poni");
  EXPECT_EQ(Stem("agreed"), "agre");
  EXPECT_EQ(Stem("plastered"), "plaster");
  EXPECT_EQ(Stem("hopping"), "hop");
  EXPECT_EQ(Stem("falling"), "fall");
  EXPECT_EQ(Stem("relational"), "relat");
  EXPECT_EQ(Stem("adoption"), "adopt");
  EXPECT_EQ(Stem("controll"), "control");
}

TEST(PorterStem, DiffersFromPorterAsNltkDoes) {
  EXPECT_EQ(Stem("everyday"), "everyday");  // everydai
  EXPECT_EQ(Stem("dying"), "die");          // dy
  EXPECT_EQ(Stem("cries"), "cri");          //
  EXPECT_EQ(Stem("skies"), "sky");          // ski
  EXPECT_EQ(Stem("geology"), "geolog");     // geologi
  EXPECT_EQ(Stem("innings"), "inning");     // in
  EXPECT_EQ(Stem("proceed"), "proceed");    // proce
  EXPECT_EQ(Stem("enjoy"), "enjoy");        // enjoi
  EXPECT_EQ(Stem("using"), "use");          // us
  EXPECT_EQ(Stem("owed"), "owe");           // ow
  EXPECT_EQ(Stem("carefully"), "care");     // carefulli
  EXPECT_EQ(Stem("dies"), "die");           // di
  EXPECT_EQ(Stem("died"), "die");           // di
  EXPECT_EQ(Stem("news"), "news");          // new
}

TEST(PorterStem, KeepsAWordWithoutAVowel) {
  for (const char* word : {"", "a", "is", "xyz", "mp3", "2026", "ss"}) EXPECT_EQ(Stem(word), word);
}

TEST(PorterStem, TakesTimeLinearInARunOfYs) {
  const std::string word(1 << 20, 'y');
  EXPECT_EQ(Stem(word).size(), word.size());
}

}  // namespace
}  // namespace backplane::rouge
