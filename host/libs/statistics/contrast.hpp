// Sums of means with factors, each with its own spread: differences whose limits were measured, too.
#pragma once

#include <optional>
#include <vector>

#include "statistics/difference.hpp"
#include "statistics/equivalence.hpp"

namespace backplane::statistics {

struct Term {
  const std::vector<double>& values;  // at least two
  double factor = 1;
};

// The sum of factor times mean, with Welch's and Satterthwaite's degrees of freedom. Different terms are independent samples.
// Absent: a sample has fewer than two values, or none has a spread.
std::optional<Difference> WelchContrast(const std::vector<Term>& terms);

// Two one-sided tests that the means of `a` and `b` differ by less than `share` of the mean of `of`, which is `a` itself or a
// third sample. Both tests include the error of the measured margin. low, high: as in TwoOneSided.
std::optional<Equivalence> EquivalenceWithinShare(const std::vector<double>& a, const std::vector<double>& b,
                                                  const std::vector<double>& of, double share);

}  // namespace backplane::statistics
