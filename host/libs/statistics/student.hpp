// Student's t, the only distribution that a handful of seeds needs.
#pragma once

namespace backplane::statistics {

// Every interval of this project covers so much.
inline constexpr double kLevel = 0.95, kUpperTail = 1 - (1 - kLevel) / 2;

// With this many degrees of freedom, Student's distribution is the normal one.
inline constexpr double kNormal = 1e9;

// The quantile (0 < p < 1) with that many degrees of freedom (> 0, whole or not).
double StudentQuantile(double p, double degrees_of_freedom);

// How often chance alone gives a t above this one.
double StudentUpper(double t, double degrees_of_freedom);

// How often chance alone gives a |t| as large.
double StudentTwoSided(double t, double degrees_of_freedom);

}  // namespace backplane::statistics
