#include "statistics/equivalence.hpp"

#include <algorithm>

#include "statistics/student.hpp"

namespace backplane::statistics {

bool Equivalence::shown() const { return p < 1 - kLevel; }

Equivalence TwoOneSided(const Difference& difference, double margin) {
  const double error = difference.standard_error, degrees = difference.degrees_of_freedom;
  const double above_low = StudentUpper((difference.value + margin) / error, degrees);
  const double below_high = StudentUpper((margin - difference.value) / error, degrees);
  const double half = StudentQuantile(kLevel, degrees) * error;
  return {std::max(above_low, below_high), difference.value - half, difference.value + half};
}

}  // namespace backplane::statistics
