#include "statistics/proportion.hpp"

#include <boost/math/distributions/binomial.hpp>

#include "statistics/student.hpp"

namespace backplane::statistics {

Interval ExactProportion(size_t successes, size_t n) {
  using Binomial = boost::math::binomial_distribution<double>;
  const auto trials = static_cast<double>(n), k = static_cast<double>(successes);
  constexpr double kTail = 1 - kUpperTail;
  return {Binomial::find_lower_bound_on_p(trials, k, kTail), Binomial::find_upper_bound_on_p(trials, k, kTail)};
}

}  // namespace backplane::statistics
