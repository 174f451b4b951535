#include "statistics/student.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace backplane::statistics {

double StudentQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

double StudentUpper(double t, double degrees_of_freedom) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees_of_freedom), t));
}

double StudentTwoSided(double t, double degrees_of_freedom) { return 2 * StudentUpper(std::abs(t), degrees_of_freedom); }

}  // namespace backplane::statistics
