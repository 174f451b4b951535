// A permutation test that may look at the scores several times and stop early, with the error of one test: AdaStop (Mathieu et
// al., "AdaStop: adaptive statistical testing for sound comparisons of deep RL agents", 2023) for two arms, with the rule
// corrected. AdaStop up to 0.1.3 compares |D| with a quantile of the signed D, which doubles the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "statistics/student.hpp"

namespace backplane::statistics {

// At each look both arms bring new scores, which are dealt out anew among themselves only. D is the sum over looks of the
// difference of means; of `deals` ways to deal (the first: as it was), the share alpha * k / looks with the largest |D| has
// left by look k. The arms differ once the way it was has left.
class GroupSequentialTest {
 public:
  struct Plan {
    size_t looks = 5;           // at most
    double alpha = 1 - kLevel;  // of all looks together
    int deals = 10'000;
    uint64_t seed = 0;
  };

  explicit GroupSequentialTest(const Plan& plan);

  // The scores of the next look, at least one each; false: the arms were told apart before or there was the last look, and it
  // was not taken.
  bool Look(const std::vector<double>& a, const std::vector<double>& b);

  size_t looks() const { return looks_; }
  bool different() const { return different_; }
  // The difference seen, a less b: of the mean over looks.
  double difference() const;

  // The least number of scores of each arm in a look with which the first one can already stop: 2 / C(2n, n) <= alpha / looks.
  static size_t LeastScores(size_t looks, double alpha);
  // Whether so many scores in each look can tell arms apart at any of them.
  static bool CanTellApart(size_t scores, size_t looks, double alpha);

 private:
  void Leave();

  Plan plan_;
  size_t looks_ = 0, left_ = 0;
  bool different_ = false;
  double rounding_ = 0;
  std::vector<double> sums_;   // D of each way to deal
  std::vector<size_t> alive_;  // ways that have not left
};

}  // namespace backplane::statistics
