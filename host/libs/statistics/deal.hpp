// The scores of two sides, which can be dealt out to them anew.
#pragma once

#include <cstddef>
#include <vector>

#include "backplane/rng.h"

namespace backplane::statistics {

class Deal {
 public:
  // Of at least one score each.
  Deal(const std::vector<double>& a, const std::vector<double>& b);

  // Mean of the first side less mean of the second.
  double Difference() const;
  // Deals at random, every way as likely, and gives the new difference.
  double Redeal(bp_rng* rng);

  // The difference if the first side had those for which `picked` is not 0.
  double DifferenceOf(const std::vector<char>& picked) const;

  // `difference` is as large as `seen`, whatever their signs, in spite of the rounding of scores and sums.
  bool AtLeast(double difference, double seen) const { return AtLeast(difference, seen, rounding_); }
  static bool AtLeast(double difference, double seen, double rounding);
  // By how much two differences may be apart that would be equal without rounding.
  double rounding() const { return rounding_; }

 private:
  size_t n_;
  std::vector<double>
      scores_;  // less their mean, so that large ones keep their digits; the first n_ are those of the first side
  double rounding_ = 0;
};

}  // namespace backplane::statistics
