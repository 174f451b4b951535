#include "statistics/contrast.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/sample.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {

std::optional<Difference> WelchContrast(const std::vector<Term>& terms) {
  Difference out;
  double variance = 0, inverse = 0;
  std::vector<double> errors;
  for (const Term& term : terms) {
    if (term.values.size() < 2) return std::nullopt;
    const Sample sample = Summarise(term.values);
    out.value += term.factor * sample.mean;
    errors.push_back(term.factor * term.factor * sample.variance / static_cast<double>(sample.n));
    variance += errors.back();
  }
  if (!(variance > 0) || !std::isfinite(variance)) return std::nullopt;
  // Shares of the whole, so that squares of tiny variances do not vanish.
  for (size_t i = 0; i < terms.size(); ++i)
    inverse += errors[i] / variance * (errors[i] / variance) / static_cast<double>(terms[i].values.size() - 1);
  out.standard_error = std::sqrt(variance);
  out.degrees_of_freedom = 1 / inverse;
  out.t = out.value / out.standard_error;
  out.p = StudentTwoSided(out.t, out.degrees_of_freedom);
  const double half = StudentQuantile(kUpperTail, out.degrees_of_freedom) * out.standard_error;
  out.low = out.value - half;
  out.high = out.value + half;
  return out;
}

std::optional<Equivalence> EquivalenceWithinShare(const std::vector<double>& a, const std::vector<double>& b,
                                                  const std::vector<double>& of, double share) {
  const std::optional<Difference> difference = WelchContrast({{b, 1}, {a, -1}});
  if (!difference) return std::nullopt;
  const double margin = Summarise(of).mean < 0 ? -share : share;
  // b - a + margin * of > 0, and b - a - margin * of < 0.
  const auto against = [&](double factor) {
    return &of == &a ? WelchContrast({{b, 1}, {a, factor - 1}}) : WelchContrast({{b, 1}, {a, -1}, {of, factor}});
  };
  const std::optional<Difference> above = against(margin), below = against(-margin);
  if (!above || !below) return std::nullopt;
  Equivalence out = TwoOneSided(*difference, 1);
  out.p = std::max(StudentUpper(above->t, above->degrees_of_freedom), StudentUpper(-below->t, below->degrees_of_freedom));
  return out;
}

}  // namespace backplane::statistics
