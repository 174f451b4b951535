// Gaussian actions for acting: row by row, in double, with noise from a counter-based stream.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane::on_policy {

// n standard normals, two per block of the stream.
void FillNormals(uint64_t key, int64_t n, double* out);

// Log-probability of x under a Gaussian with diagonal covariance.
double GaussianLogp(const float* x, const float* mean, const double* std, int64_t n);

// Writes mean + std * noise (the mean if `noise` is NULL) and returns its log-probability.
double DrawGaussian(const float* mean, const double* std, const double* noise, int64_t n, float* out);

}  // namespace backplane::on_policy
