// Random reassignment of the scores of two sides, for permutation tests.
#pragma once

#include <cstddef>
#include <vector>

#include "backplane/rng.h"

namespace backplane::statistics {

class Deal {
 public:
  // Each side needs at least one score.
  Deal(const std::vector<double>& a, const std::vector<double>& b);

  // Mean of the first side minus mean of the second.
  double Difference() const;
  // Reassigns all scores uniformly at random and returns the new difference.
  double Redeal(bp_rng* rng);

  // The difference if the first side consisted of the scores with `picked` not 0.
  double DifferenceOf(const std::vector<char>& picked) const;

  // True if |difference| >= |seen|, up to rounding of scores and sums.
  bool AtLeast(double difference, double seen) const { return AtLeast(difference, seen, rounding_); }
  static bool AtLeast(double difference, double seen, double rounding);
  // The largest rounding error between two equal differences.
  double rounding() const { return rounding_; }

 private:
  size_t n_;
  std::vector<double> scores_;  // centred to keep precision; the first n_ belong to the first side
  double rounding_ = 0;
};

}  // namespace backplane::statistics
