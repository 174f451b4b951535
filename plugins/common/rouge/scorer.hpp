// ROUGE (Lin 2004, "ROUGE: A package for automatic evaluation of summaries") as two Python packages compute it, digit for
// digit. README.md says how they differ; scores of the two are never to be compared with each other.
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

// Of several references: for each type the score with the best F, the first of equals; or the mean of P, of R and of F.
enum class MultiRef { kMax, kMean };

struct Options {
  Impl impl = Impl::kGoogle;
  // Absent: what the package does by itself, kGoogle for kGoogle and kWhitespace for kPltrdy. kPltrdy with another tokenizer
  // gets that one's tokens joined by spaces, as a caller of the package would do it.
  std::optional<Tokenizer> tokenizer;
  // NLTK's PorterStemmer in its default mode on tokens longer than 3; for Tokenizer::kGoogle only.
  bool stem = false;
  MultiRef multi_ref = MultiRef::kMax;
};

struct Score {
  double precision = 0, recall = 0, f = 0;
};

// Under kPltrdy rougeL and rougeLsum are the same: its only LCS score is one of a summary, pieces ending at each ".".
struct Scores {
  Score rouge1, rouge2, rougeL, rougeLsum;
};

// All numbers of a Scores: for (auto type : kTypes) for (auto number : kNumbers) scores.*type.*number.
inline constexpr Score Scores::*kTypes[] = {&Scores::rouge1, &Scores::rouge2, &Scores::rougeL, &Scores::rougeLsum};
inline constexpr double Score::*kNumbers[] = {&Score::precision, &Score::recall, &Score::f};

// A text that kPltrdy refuses: empty, or dots only. kGoogle scores it 0.
struct EmptyText : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Scores texts; any number of threads may use one at a time. Keeps scratch memory between calls, at most some MB per thread
// that ever scored at the same time.
class Scorer {
 public:
  // Throws std::invalid_argument where the options cannot be met together.
  explicit Scorer(const Options& options);
  ~Scorer();

  // As given, with the tokenizer filled in: what a table of results should name.
  const Options& options() const { return options_; }

  // Throws std::invalid_argument without references, EmptyText.
  // Time: product of the two token counts / 64, and for several lines (kGoogle) or pieces (kPltrdy) at least the product of
  // their numbers. Memory: in bytes an eighth of the product of the tokens of two lines or pieces, else linear.
  Scores Score(std::string_view prediction, std::span<const std::string_view> references) const;
  Scores Score(std::string_view prediction, std::string_view reference) const { return Score(prediction, {&reference, 1}); }

  // ROUGE-n alone, n >= 1. Throws as Score does.
  rouge::Score ScoreN(int n, std::string_view prediction, std::span<const std::string_view> references) const;

 private:
  struct Scratch;
  class Lease;

  Options options_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;  // guarded by mutex_
};

// Whether scores with these options would say little about texts with these letters: under Tokenizer::kGoogle, over a fifth of
// the references' letters Hangul, which that tokenizer drops. Pure Hangul then scores 0 against itself. The caller warns.
bool MissesHangul(const Options& options, const Letters& references);

}  // namespace backplane::rouge
