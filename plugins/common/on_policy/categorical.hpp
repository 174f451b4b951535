// Choices on the acting side: one row at a time, in double, noise from a counter-based stream.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane::on_policy {

// Draws a choice (the likeliest if `rng` is NULL; ties go to the lowest) among the choices with mask not 0; NULL allows all.
// Throws bp::Error if a mask allows none.
int32_t DrawCategorical(const float* logits, const uint8_t* mask, int64_t n, bp_rng* rng, double* out_logp);

// Draws n independent bits (the likelier values if `rng` is NULL; ties go to 0) and returns their log-probability.
double DrawBits(const float* logits, int64_t n, bp_rng* rng, uint8_t* out);

}  // namespace backplane::on_policy
