// Action distributions on the acting side: one row at a time, in double, noise from a counter-based stream.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane::ppo {

// Log-probability and entropy of a Gaussian with diagonal covariance.
double GaussianLogp(const float* x, const float* mean, const float* log_std, int64_t n);

// Draws mean + std * noise (the mean if `rng` is NULL) into `out`; returns the log-probability of what was written.
double DrawGaussian(const float* mean, const float* log_std, int64_t n, bp_rng* rng, float* out);

// Draws a choice (the likeliest if `rng` is NULL; ties go to the lowest) among those whose mask is not 0; NULL allows all.
// Throws bp::Error if a mask allows none.
int32_t DrawCategorical(const float* logits, const uint8_t* mask, int64_t n, bp_rng* rng, double* out_logp);

}  // namespace backplane::ppo
