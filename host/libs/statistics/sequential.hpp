// A permutation test that may look at the scores several times and stop early, with the error of one test: AdaStop (Mathieu et
// al., "AdaStop: adaptive statistical testing for sound comparisons of deep RL agents", 2023) for two arms, with the rule
// corrected. AdaStop up to 0.1.3 compares |D| with a quantile of the signed D, which doubles the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "statistics/student.hpp"

namespace backplane::statistics {

// At each look both arms contribute new scores, which are permuted within the look. D is the sum over looks of the mean
// differences. Of `deals` permutations (the first is the observed assignment), the share alpha * k / looks with the largest |D|
// is removed by look k. The arms differ once the observed assignment is removed.
class GroupSequentialTest {
 public:
  struct Plan {
    size_t looks = 5;           // maximum
    double alpha = 1 - kLevel;  // for all looks together
    int deals = 10'000;
    uint64_t seed = 0;
  };

  explicit GroupSequentialTest(const Plan& plan);

  // Adds a look with at least one score per arm. Returns false and ignores it after a detected difference or the last look.
  bool Look(const std::vector<double>& a, const std::vector<double>& b);

  size_t looks() const { return looks_; }
  bool different() const { return different_; }
  // The observed difference, a minus b: the mean over looks.
  double difference() const;

  // The smallest number of scores per arm and look that can stop at the first look: 2 / C(2n, n) <= alpha / looks.
  static size_t LeastScores(size_t looks, double alpha);
  // True if any look with this many scores can detect a difference.
  static bool CanTellApart(size_t scores, size_t looks, double alpha);

 private:
  void Leave();

  Plan plan_;
  size_t looks_ = 0, left_ = 0;
  bool different_ = false;
  double rounding_ = 0;
  std::vector<double> sums_;   // D of each permutation
  std::vector<size_t> alive_;  // permutations not removed
};

}  // namespace backplane::statistics
