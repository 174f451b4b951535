// Dropout with masks that depend only on their use, not on the order of threads, unlike LibTorch's process-wide generator. They
// do not depend on padding or on the implementation either.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace backplane::seq2seq {

class Noise {
 public:
  Noise() = default;  // no dropout
  explicit Noise(uint64_t seed) : seed_(seed) {}

  // Places of dropout in a layer.
  enum class Site : uint32_t { kSelfShares = 1, kSelf, kCrossShares, kCross, kWide, kOut };

  // A separate stream per layer, so that a recomputed layer draws the same masks.
  class Stream {
   public:
    Stream() = default;
    explicit Stream(uint64_t seed) : seed_(seed) {}
    // x [texts, ..., n] with elements set to 0 with probability p and the others divided by 1 - p.
    at::Tensor Drop(const at::Tensor& x, double p, Site site) const;
    // The same for one row [n] of a text, in place: a position, or RowOf for a head's shares.
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
