// ROUGE (Lin 2004, "ROUGE: A package for automatic evaluation of summaries") as computed by two Python packages, digit for
// digit. README.md lists their differences; never compare scores of one with scores of the other.
//
// Texts are UTF-8. Bytes that are not count as U+FFFD, one for each maximal part of a sequence, as Python's
// bytes.decode("utf-8", "replace") has it. A NUL is a character like any other.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "rouge/unicode.hpp"

namespace backplane::rouge {

// kGoogle: google-research's rouge_score 0.1.2. kPltrdy: PyPI's rouge 1.0.1, which Korean baselines use.
enum class Impl { kGoogle, kPltrdy };

// kGoogle: lower case, runs of a-z and 0-9; all else, Hangul too, separates. kWhitespace: Python's str.split().
// kChar: every code point after NFC that is no whitespace (str.isspace). The last two keep the case.
enum class Tokenizer { kGoogle, kWhitespace, kChar };

// With several references: per type the score with the best F, the first of equals; or the means of P, R and F.
enum class MultiRef { kMax, kMean };

struct Options {
  Impl impl = Impl::kGoogle;
  // Absent: the package's default, kGoogle for kGoogle and kWhitespace for kPltrdy. With a different tokenizer, kPltrdy gets
  // its tokens joined by spaces, like from a caller of the package.
  std::optional<Tokenizer> tokenizer;
  // NLTK's PorterStemmer in its default mode on tokens longer than 3; for Tokenizer::kGoogle only.
  bool stem = false;
  MultiRef multi_ref = MultiRef::kMax;
};

struct Score {
  double precision = 0, recall = 0, f = 0;
};

// With kPltrdy rougeL and rougeLsum are equal: its only LCS score is per summary, with pieces ending at each ".".
struct Scores {
  Score rouge1, rouge2, rougeL, rougeLsum;
};

// All numbers of a Scores: for (auto type : kTypes) for (auto number : kNumbers) scores.*type.*number.
inline constexpr Score Scores::*kTypes[] = {&Scores::rouge1, &Scores::rouge2, &Scores::rougeL, &Scores::rougeLsum};
inline constexpr double Score::*kNumbers[] = {&Score::precision, &Score::recall, &Score::f};

// A text that kPltrdy rejects: empty, or only dots. kGoogle scores it 0.
struct EmptyText : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Scores texts. Thread-safe. Keeps scratch memory between calls, at most some MB per thread that scored concurrently.
class Scorer {
 public:
  // Throws std::invalid_argument if the options contradict each other.
  explicit Scorer(const Options& options);
  ~Scorer();

  // The options with the tokenizer resolved, for tables of results.
  const Options& options() const { return options_; }

  // Throws std::invalid_argument without references, EmptyText. Time: product of the two token counts / 64, and for several
  // lines (kGoogle) or pieces (kPltrdy) at least the product of their numbers. Memory: an eighth of the product of the token
  // counts of two lines or pieces in bytes, else linear.
  Scores Score(std::string_view prediction, std::span<const std::string_view> references) const;
  Scores Score(std::string_view prediction, std::string_view reference) const { return Score(prediction, {&reference, 1}); }

  // Only ROUGE-n, n >= 1. Throws like Score.
  rouge::Score ScoreN(int n, std::string_view prediction, std::span<const std::string_view> references) const;

 private:
  struct Scratch;
  class Lease;

  Options options_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;  // guarded by mutex_
};

// True if scores with these options are meaningless for texts with these letters: Tokenizer::kGoogle drops letters that are not
// Latin, and they are over a fifth of the references' letters. A text of only such letters scores 0 against itself. The caller
// warns.
bool MissesLetters(const Options& options, const Letters& references);

}  // namespace backplane::rouge
