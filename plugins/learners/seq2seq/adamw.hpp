// AdamW (Loshchilov and Hutter, arXiv 1711.05101) on a CPU, by pieces that fit into a core's cache and run on the threads of
// the trial. What is computed does not depend on how many there are.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/host.h"

namespace backplane::seq2seq {

// Adds all gradients [n] up in the first, in their order, and returns the sum's norm. [control]
double SumGradients(const bp_host* host, const std::vector<float*>& gradients, int64_t n);
// [control]
void SetToZero(const bp_host* host, const std::vector<float*>& gradients, int64_t n);

struct AdamWStep {
  double lr, beta1, beta2, epsilon, weight_decay;
  double factor;    // of the gradient
  uint64_t update;  // from 1
  int64_t decayed;  // so many of the first weights have weight decay
};
// Buffers [n]; the gradient is multiplied by the factor. [control]
void StepAdamW(const bp_host* host, const AdamWStep& step, int64_t n, float* gradient, float* first, float* second,
               float* weights);

}  // namespace backplane::seq2seq
