// Gaussian actions on the acting side: one row at a time, in double, noise from a counter-based stream.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane::ppo {

// n standard normals, two from each block of the stream.
void FillNormals(uint64_t key, int64_t n, double* out);

// Log-probability of x under a Gaussian with diagonal covariance.
double GaussianLogp(const float* x, const float* mean, const double* std, int64_t n);

// Writes mean + std * noise (the mean if `noise` is NULL) and returns the log-probability of what was written.
double DrawGaussian(const float* mean, const double* std, const double* noise, int64_t n, float* out);

}  // namespace backplane::ppo
