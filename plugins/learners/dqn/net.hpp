// DQN's network: a value for each choice.
#pragma once

#include <cstdint>
#include <vector>

#include "off_policy/net.hpp"

namespace backplane::dqn {

using namespace off_policy;  // its towers and batches

struct NetShape {
  int64_t obs, choices;
  std::vector<int64_t> hidden;
  Activation activation = Activation::kRelu;
  bool dueling = false, masked = false;
};

struct Net {
  explicit Net(const NetShape& shape);
  // The numbers that are stored for an action: the choice, then the mask's flags, if there is one.
  int64_t stored() const { return 1 + (masked ? choices : 0); }

  int64_t obs, choices;
  bool dueling, masked;
  Tower tower;  // head: a number per choice; dueling: their advantages, then the value of the observation
  int64_t size = 0;
};

// The values [choices] of a head. Dueling (Wang et al., arXiv 1511.06581): the observation's value plus the advantage less the
// mean of this observation's advantages.
template <class T>
void Values(const Net& net, const T* head, T* out) {
  T base = 0;
  if (net.dueling) {
    T sum = 0;
    for (int64_t k = 0; k < net.choices; ++k) sum += head[k];
    base = head[net.choices] - sum / static_cast<T>(net.choices);
  }
  for (int64_t k = 0; k < net.choices; ++k) out[k] = head[k] + base;
}

// The choice with the largest value among those whose flag is not 0 (NULL: all), the first of equals. -1: none is allowed.
template <class T, class Flag>
int64_t Best(const T* values, const Flag* mask, int64_t n) {
  int64_t best = -1;
  for (int64_t k = 0; k < n; ++k)
    if ((mask == nullptr || mask[k] != 0) && (best < 0 || values[k] > values[best])) best = k;
  return best;
}

}  // namespace backplane::dqn
