// The distributions of an action and their places in a policy's outputs and in a sample. They are independent, so their
// log-probabilities and entropies add up.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::on_policy {

enum class Kind { kGaussian, kChoice, kBits };  // numbers, one of n choices, n independent bits

struct Distribution {
  Kind kind = Kind::kGaussian;
  int64_t n = 0;       // outputs: means, or logits
  int64_t output = 0;  // its first one
  int64_t number = 0;  // kGaussian: the first of its numbers, which have one deviation each
  int64_t choice = 0;  // else: its choice, or the first of its bits
  int64_t flag = 0;    // kChoice: the first of its flags in a mask
};

// The distributions of an action, in the order of the outputs.
struct Distributions {
  void Add(Kind kind, int64_t n) {
    each.push_back({kind, n, outputs, numbers, choices, flags});
    outputs += n;
    if (kind == Kind::kGaussian) numbers += n;
    if (kind == Kind::kBits) choices += n;
    if (kind == Kind::kChoice) ++choices, flags += n;
  }
  // One Gaussian or one choice.
  bool is_plain() const { return each.size() == 1 && each[0].kind != Kind::kBits; }

  std::vector<Distribution> each;
  int64_t outputs = 0, numbers = 0, choices = 0, flags = 0;  // in total
};

}  // namespace backplane::on_policy
