#include "record/compare_looks.hpp"

#include <algorithm>

#include "statistics/sequential.hpp"

namespace backplane {
namespace {

double AlphaOfATest(const CompareTerms& terms, size_t points) {
  return terms.alpha / static_cast<double>(TestsOf(terms, points));
}

}  // namespace

size_t TestsOf(const CompareTerms& terms, size_t points) {
  const size_t tasks = std::max<size_t>(1, terms.tasks.size()), arms = points / tasks;
  return arms < 2 ? 1 : tasks * arms * (arms - 1) / 2;
}

size_t ScoresOfALook(const CompareTerms& terms, size_t points) {
  if (terms.looks.n) return *terms.looks.n;
  if (IsOfSpeed(terms)) return CompareLooks::kDefaultScores;
  return std::max<size_t>(CompareLooks::kDefaultScores, LeastScoresOfALook(terms, points));
}

size_t LeastScoresOfALook(const CompareTerms& terms, size_t points) {
  if (IsOfSpeed(terms)) return 2;
  return statistics::GroupSequentialTest::LeastScores(terms.looks.max, AlphaOfATest(terms, points));
}

size_t SeedsOfALook(const CompareTerms& terms, size_t points) {
  return ScoresOfALook(terms, points) * (IsOfSpeed(terms) ? 2 : 1);
}

bool CanTellApart(const CompareTerms& terms, size_t points) {
  if (IsOfSpeed(terms)) return ScoresOfALook(terms, points) * terms.looks.max > 1;
  return statistics::GroupSequentialTest::CanTellApart(ScoresOfALook(terms, points), terms.looks.max,
                                                       AlphaOfATest(terms, points));
}

}  // namespace backplane
