#include "packed_weight.hpp"

#include <algorithm>

namespace backplane::seq2seq {
namespace {

// Rows of g read column by column: more would evict each other from the cache if `out` is a power of two.
constexpr int64_t kRowsOfGradient = 128;

}  // namespace

void PackedWeight::Set(const float* weight, int64_t out, int64_t in) {
  transposed_.SetTransposed(weight, out, in);
  plain_.Set(weight, out, in);
}

void PackedWeight::Forward(const float* x, const float* bias, int64_t rows, float* y) const {
  nn::Multiply(x, transposed_, bias, rows, y);
}

void PackedWeight::Backward(const float* g, int64_t rows, float* dx) const {
  nn::Multiply(g, plain_, static_cast<const float*>(nullptr), rows, dx);
}

void PackedWeight::BackwardAdd(const float* g, int64_t rows, float* dx) const { nn::MultiplyAdd(g, plain_, rows, dx); }

void AddWeightGradient(const float* g, int64_t out, const float* x, int64_t in, int64_t rows, float* grad) {
  nn::Packed<float> part;
  for (int64_t begin = 0; begin < rows; begin += kRowsOfGradient) {
    const int64_t n = std::min(rows - begin, kRowsOfGradient);
    part.Set(x + begin * in, n, in);
    nn::MultiplyTransposedAdd(g + begin * out, out, part, grad);
  }
}

}  // namespace backplane::seq2seq
