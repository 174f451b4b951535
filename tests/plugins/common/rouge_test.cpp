// Published scores: google-research's rouge_scorer_test.py and ROUGE's README for one implementation, runs of PyPI's rouge
// 1.0.1 for the other. tests/parity/rouge_test.cpp compares many more texts with the packages.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "rouge/scorer.hpp"

namespace backplane::rouge {

void PrintTo(const Score& s, std::ostream* out) { *out << s.precision << "/" << s.recall << "/" << s.f; }

namespace {

using testing::HasSubstr;

constexpr std::string_view kFox = "The quick brown fox jumps over the lazy dog", kDog = "The quick brown dog jumps on the log.";

// Precision, recall and F to the goldens' five digits.
MATCHER_P3(Is, precision, recall, f, "") {
  return std::abs(arg.precision - precision) < 1e-5 && std::abs(arg.recall - recall) < 1e-5 && std::abs(arg.f - f) < 1e-5;
}

Scores Google(std::string_view prediction, std::string_view reference, bool stem = false) {
  return Scorer({.stem = stem}).Score(prediction, reference);
}
Scores Pltrdy(std::string_view prediction, std::string_view reference) {
  return Scorer({.impl = Impl::kPltrdy}).Score(prediction, reference);
}
Scores With(Tokenizer tokenizer, std::string_view prediction, std::string_view reference) {
  return Scorer({.tokenizer = tokenizer}).Score(prediction, reference);
}

TEST(RougeGoogle, CountsWordsAndPairs) {
  EXPECT_THAT(Google("testing", "testing one two").rouge1, Is(1, .33333, .5));
  EXPECT_THAT(Google("testing one", "testing one two").rouge2, Is(1, .5, .66667));
  EXPECT_THAT(Google("testing two", "testing one two").rougeL, Is(1, .66667, .8));
}

TEST(RougeGoogle, ScoresTheFox) {
  const Scores fox = Google(kDog, kFox);
  EXPECT_THAT(fox.rouge1, Is(.75, .66667, .70588));
  EXPECT_THAT(fox.rouge2, Is(.28571, .25, .26667));
  EXPECT_THAT(fox.rougeL, Is(.625, .55556, .58824));
}

TEST(RougeGoogle, CountsAWordAsOftenAsTheSideWithFewerHasIt) {
  EXPECT_THAT(Google("the the the the", "the cat sat").rouge1, Is(.25, .33333, .28571));
}

TEST(RougeGoogle, UnitesTheCommonWordsOfAllLines) {
  EXPECT_THAT(Google("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5").rougeLsum, Is(.4, .8, .53333));
  EXPECT_THAT(Google("a b\na b", "a b a b").rougeLsum, Is(.5, .5, .5));
}

TEST(RougeGoogle, ScoresATextWithoutWordsZero) {
  for (const std::string_view text : {"/", "", "\n\n", "안녕"})
    for (const Score& score : {Google(text, "testing").rouge1, Google(text, "testing").rougeL,
                               Google("testing", text).rougeLsum, Google(text, text).rouge2})
      EXPECT_THAT(score, Is(0, 0, 0)) << text;
}

TEST(RougeGoogle, ComparesStemsOnRequest) {
  EXPECT_THAT(Google("carefully hopping", "careful hops").rouge1, Is(0, 0, 0));
  EXPECT_THAT(Google("carefully hopping", "careful hops", /*stem=*/true).rouge1, Is(1, 1, 1));
  EXPECT_THAT(Google("was", "wa", /*stem=*/true).rouge1, Is(0, 0, 0)) << "only words of four or more letters";
}

TEST(RougePltrdy, CountsDistinctWords) {
  EXPECT_NEAR(Pltrdy(kFox, kFox).rouge1.f, .999999995, 1e-9);
  EXPECT_NEAR(Pltrdy(kFox, kFox).rougeL.f, .999999995, 1e-9);
  EXPECT_NEAR(Pltrdy("the the the the", "the cat sat").rouge1.f, .499999996, 1e-9);
  EXPECT_NEAR(Pltrdy("오늘 회의 취소", "오늘 회의 시간 취소").rouge1.f, .857142852, 1e-9);
  EXPECT_NEAR(Pltrdy("오늘 회의 취소", "오늘 회의 시간 취소").rouge2.f, .399999995, 1e-9);
}

TEST(RougePltrdy, ScoresTheFox) {
  const Scores fox = Pltrdy(kDog, kFox);
  EXPECT_NEAR(fox.rouge1.f, .705882348, 1e-9);
  EXPECT_NEAR(fox.rouge2.f, .266666662, 1e-9);
  EXPECT_NEAR(fox.rougeL.f, .588235289, 1e-9);
}

TEST(RougePltrdy, CountsBlanksBetweenDotsAsAnEmptyWord) { EXPECT_NEAR(Pltrdy("a b. ", "a b").rouge1.f, .799999995, 1e-9); }

TEST(RougePltrdy, RejectsATextOfDots) {
  EXPECT_THROW(Pltrdy("", "a"), EmptyText);
  try {
    Pltrdy("a", "...");
    ADD_FAILURE() << "no exception";
  } catch (const EmptyText& error) {
    EXPECT_THAT(error.what(), HasSubstr("got a reference that is empty or has only dots"));
  }
}

TEST(Rouge, ScoresTheSameHangulOneByWordsAndByCharacters) {
  const std::string_view text = "오늘 회의는 취소되었습니다";
  for (const Tokenizer tokenizer : {Tokenizer::kWhitespace, Tokenizer::kChar})
    for (const auto type : kTypes) EXPECT_THAT(With(tokenizer, text, text).*type, Is(1, 1, 1));
  EXPECT_THAT(With(Tokenizer::kChar, "회의 취소", "취소").rouge1, Is(.5, 1, .66667));
}

TEST(Rouge, DetectsScriptsThatTheTokenizerDrops) {
  Letters korean, english, few;
  korean.Add("오늘 회의는 3시 meeting");
  english.Add("the meeting is at 3 o'clock");
  few.Add("회의 is the word for a meeting");
  EXPECT_TRUE(MissesLetters({}, korean));
  EXPECT_FALSE(MissesLetters({}, english));
  EXPECT_FALSE(MissesLetters({}, few));
  EXPECT_FALSE(MissesLetters({}, Letters{}));
  EXPECT_FALSE(MissesLetters({.tokenizer = Tokenizer::kChar}, korean));
  EXPECT_FALSE(MissesLetters({.impl = Impl::kPltrdy}, korean));
  for (const std::string_view text :
       {"Встреча завтра утром", "Η συνάντηση αύριο", "बैठक कल सुबह", "会议明天早上", "פגישה מחר", "会議は明日"}) {
    Letters letters;
    letters.Add(text);
    EXPECT_TRUE(MissesLetters({}, letters)) << text;
    EXPECT_EQ(Scorer({}).Score(text, text).rouge1.f, 0) << text;
    EXPECT_EQ(With(Tokenizer::kChar, text, text).rouge1.f, 1) << text;
  }
  for (const std::string_view text : {"cuộc họp vào sáng mai", "zażółć gęślą jaźń", "toplantı yarın sabah"}) {
    Letters letters;
    letters.Add(text);
    EXPECT_FALSE(MissesLetters({}, letters)) << text;
    EXPECT_GT(Scorer({}).Score(text, text).rouge1.f, 0.99) << text;
  }
}

TEST(Rouge, UsesTheBestReferenceOfEachTypeOrTheMean) {
  const std::string_view references[] = {"c d e f", "a b", "a b x"};
  const Scores best = Scorer({}).Score("a b c", references);
  EXPECT_THAT(best.rouge1, Is(.66667, 1, .8));
  EXPECT_THAT(best.rouge2, Is(.5, 1, .66667));
  const Scores mean = Scorer({.multi_ref = MultiRef::kMean}).Score("a b c", references);
  EXPECT_THAT(mean.rouge1, Is((1 + 2 + 2) / 9., (1 / 4. + 1 + 2 / 3.) / 3, (2 / 7. + .8 + 2 / 3.) / 3));
}

TEST(Rouge, ScoresLongerNGrams) {
  const std::string_view reference = "a b c d e";
  EXPECT_THAT(Scorer({}).ScoreN(3, "a b c d x", {&reference, 1}), Is(2 / 3., 2 / 3., 2 / 3.));
  for (const int n : {6, 2147483647})
    EXPECT_THAT(Scorer({}).ScoreN(n, "a b c d x", {&reference, 1}), Is(0, 0, 0)) << "no text has so many words";
}

TEST(Rouge, RejectsContradictoryOptions) {
  EXPECT_THROW(Scorer({.tokenizer = Tokenizer::kChar, .stem = true}), std::invalid_argument);
  EXPECT_THROW(Scorer({.impl = Impl::kPltrdy, .stem = true}), std::invalid_argument) << "its tokens split at whitespace";
  EXPECT_THROW(Scorer({}).Score("a", std::span<const std::string_view>()), std::invalid_argument);
  const std::string_view reference = "a";
  EXPECT_THROW(Scorer({}).ScoreN(0, "a", {&reference, 1}), std::invalid_argument);
}

TEST(Rouge, ReportsItsTokenizer) {
  EXPECT_EQ(Scorer({}).options().tokenizer, Tokenizer::kGoogle);
  EXPECT_EQ(Scorer({.impl = Impl::kPltrdy}).options().tokenizer, Tokenizer::kWhitespace);
}

TEST(Rouge, ScoresTheSameOnManyThreads) {
  const Scorer scorer({.stem = true});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string prediction = "running " + std::to_string(i) + " runs",
                          reference = "run " + std::to_string(i) + " time";
        const Scores scores = scorer.Score(prediction, reference);
        wrong[t] += std::abs(scores.rouge1.f - 2 / 3.) > 1e-12 || scores.rouge2.f != .5;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Rouge, DoesNotDependOnEarlierTexts) {
  const Scorer scorer({.stem = true});
  std::string large;  // more words than the scratch buffer holds
  for (int i = 0; i < 80000; ++i) large += "word" + std::to_string(i) + (i % 2 ? " " : "\n");
  EXPECT_THAT(scorer.ScoreN(2, large, std::vector<std::string_view>{large}), Is(1, 1, 1));
  EXPECT_THAT(scorer.Score(kDog, kFox).rouge2, Is(.28571, .25, .26667));
}

TEST(Rouge, ScoresTenThousandWordsOnOneLineAndOnMany) {
  std::string line, lines, other;
  for (int i = 0; i < 10000; ++i) {
    line += "w" + std::to_string(i % 997) + " ";
    lines += "w" + std::to_string(i % 997) + (i % 100 == 99 ? "\n" : " ");
    other += "w" + std::to_string((i + 1) % 997) + " ";
  }
  EXPECT_THAT(Google(line, lines).rougeL, Is(1, 1, 1));
  EXPECT_THAT(Google(lines, lines).rougeLsum, Is(1, 1, 1));
  EXPECT_THAT(Google(line, lines).rougeLsum, Is(1, 1, 1)) << "the single line contains each line";
  EXPECT_THAT(Google(other, line).rougeL, Is(.9999, .9999, .9999)) << "one word is first here and last there";
  EXPECT_NEAR(Pltrdy(other, line).rougeL.f, 1, 1e-8);
}

}  // namespace
}  // namespace backplane::rouge
