#include "record/compare_looks.hpp"

#include <algorithm>

#include "statistics/sequential.hpp"

namespace backplane {
namespace {

// Of one pair of arms.
double AlphaOfAPair(const CompareTerms& terms, size_t arms) {
  return terms.alpha / std::max(1.0, static_cast<double>(arms * (arms - 1)) / 2);
}

}  // namespace

size_t ScoresOfALook(const CompareTerms& terms, size_t arms) {
  if (terms.looks.n) return *terms.looks.n;
  if (IsOfSpeed(terms)) return CompareLooks::kDefaultScores;
  return std::max<size_t>(CompareLooks::kDefaultScores, LeastScoresOfALook(terms, arms));
}

size_t LeastScoresOfALook(const CompareTerms& terms, size_t arms) {
  if (IsOfSpeed(terms)) return 2;
  return statistics::GroupSequentialTest::LeastScores(terms.looks.max, AlphaOfAPair(terms, arms));
}

size_t SeedsOfALook(const CompareTerms& terms, size_t arms) { return ScoresOfALook(terms, arms) * (IsOfSpeed(terms) ? 2 : 1); }

bool CanTellApart(const CompareTerms& terms, size_t arms) {
  if (IsOfSpeed(terms)) return ScoresOfALook(terms, arms) * terms.looks.max > 1;
  return statistics::GroupSequentialTest::CanTellApart(ScoresOfALook(terms, arms), terms.looks.max, AlphaOfAPair(terms, arms));
}

}  // namespace backplane
