// Student's t distribution, which suffices for small numbers of seeds.
#pragma once

namespace backplane::statistics {

// The confidence level of every interval in this project.
inline constexpr double kLevel = 0.95, kUpperTail = 1 - (1 - kLevel) / 2;

// Degrees of freedom at which Student's distribution equals the normal one.
inline constexpr double kNormal = 1e9;

// The quantile (0 < p < 1); degrees of freedom > 0, not necessarily integers.
double StudentQuantile(double p, double degrees_of_freedom);

// P(T > t).
double StudentUpper(double t, double degrees_of_freedom);

// P(|T| >= |t|).
double StudentTwoSided(double t, double degrees_of_freedom);

}  // namespace backplane::statistics
