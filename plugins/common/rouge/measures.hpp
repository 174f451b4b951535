// Scores a prediction against a reference.
#pragma once

#include "rouge/lcs.hpp"
#include "rouge/ngrams.hpp"

namespace backplane::rouge {

// Scores pairs like one of the packages. Not thread-safe.
class Measures {
 public:
  explicit Measures(Impl impl) : impl_(impl) {}

  Scores All(const Text& prediction, const Text& reference);
  Score Gram(int n, const Text& prediction, const Text& reference);
  size_t bytes() const { return ngrams_.bytes() + lcs_.bytes(); }

 private:
  Score Grams();
  Score GoogleLines(const Text& prediction, const Text& reference);
  Score PltrdyPieces(const Text& prediction, const Text& reference);
  Score Rate(Overlap overlap) const;

  Impl impl_;
  Ngrams ngrams_;
  Lcs lcs_;
  Text prediction_, reference_;  // numbered like in ngrams_
  std::vector<Id> left_[2];      // per token: unmatched occurrences in the prediction and in the reference
  std::vector<uint8_t> marked_;
};

}  // namespace backplane::rouge
