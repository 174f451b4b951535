// Dropout whose masks are a function of what they are for, never of which thread drew before: LibTorch's own draws from one
// generator of the whole process. Nor do they depend on padding or on what computes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace backplane::seq2seq {

class Noise {
 public:
  Noise() = default;  // none
  explicit Noise(uint64_t seed) : seed_(seed) {}

  // What of a layer is dropped from.
  enum class Site : uint32_t { kSelfShares = 1, kSelf, kCrossShares, kCross, kWide, kOut };

  // A stream of its own for each layer, so that a layer that is run again draws the same.
  class Stream {
   public:
    Stream() = default;
    explicit Stream(uint64_t seed) : seed_(seed) {}
    // x [texts, ..., n] with elements set to 0 with probability p and the others divided by 1 - p.
    at::Tensor Drop(const at::Tensor& x, double p, Site site) const;
    // The same of one row [n] of a text, in place: a position, or of a head's shares RowOf.
    void DropRow(float* values, int64_t n, double p, Site site, int64_t text, int64_t row) const;
    static int64_t RowOf(int64_t head, int64_t position) { return head << 32 | position; }
    bool Drops(double p) const { return seed_ && p > 0; }

   private:
    std::optional<uint64_t> seed_;
  };
  Stream Of(uint64_t layer) const;

 private:
  std::optional<uint64_t> seed_;
};

}  // namespace backplane::seq2seq
