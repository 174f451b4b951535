// AdamW (Loshchilov and Hutter, arXiv 1711.05101) on a CPU, in pieces that fit into a core's cache and run on the trial's
// threads. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/host.h"

namespace backplane::seq2seq {

// Adds all gradients [n] to the first, in order, and returns the norm of the sum. [control]
double SumGradients(const bp_host* host, const std::vector<float*>& gradients, int64_t n);
// [control]
void SetToZero(const bp_host* host, const std::vector<float*>& gradients, int64_t n);

struct AdamWStep {
  double lr, beta1, beta2, epsilon, weight_decay;
  double factor;    // multiplies the gradient
  uint64_t update;  // from 1
  int64_t decayed;  // number of leading weights with weight decay
};
// Buffers [n]; multiplies the gradient by the factor. [control]
void StepAdamW(const bp_host* host, const AdamWStep& step, int64_t n, float* gradient, float* first, float* second,
               float* weights);

}  // namespace backplane::seq2seq
