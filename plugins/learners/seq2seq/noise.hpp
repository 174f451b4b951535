// Dropout whose masks are a function of what they are for, never of which thread drew before: LibTorch's own draws from one
// generator of the whole process.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace backplane::seq2seq {

class Noise {
 public:
  Noise() = default;  // none
  explicit Noise(uint64_t seed) : seed_(seed) {}

  // A stream of its own for each layer, so that a layer that is run again draws the same.
  class Stream {
   public:
    Stream() = default;
    explicit Stream(uint64_t seed);
    // x with elements set to 0 with probability p and the others divided by 1 - p.
    at::Tensor Drop(const at::Tensor& x, double p);

   private:
    std::optional<at::Generator> generator_;
  };
  Stream Of(uint64_t layer) const;

 private:
  std::optional<uint64_t> seed_;
};

}  // namespace backplane::seq2seq
