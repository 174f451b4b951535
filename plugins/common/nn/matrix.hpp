// Products of small dense matrices, with a few hundred rows and columns, for networks on a CPU. Each element adds its products
// in ascending order of the shared index in one accumulator. So a row's result does not depend on the other rows.
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::nn {

// Precision of the factors of a product. kBf16: bfloat16, in pairs along the shared index, the second product first; sums stay
// float32. It requires T float and HasBf16() (bf16.hpp).
enum class Precision { kFull, kBf16 };

// The second factor of a product, [k, n], in panels of columns for sequential reads; zeros pad the last panel. It determines
// the precision of its products. Packing needs one pass and allocates only if the size grows.
template <class T>
class Packed {
 public:
  void Set(const T* b, int64_t k, int64_t n, Precision precision = Precision::kFull);            // from b [k, n]
  void SetTransposed(const T* b, int64_t n, int64_t k, Precision precision = Precision::kFull);  // from b [n, k]
  const T* data() const { return data_.data(); }
  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  Precision precision() const { return precision_; }

 private:
  void Shape(int64_t k, int64_t n, Precision precision);
  int64_t k_ = 0, n_ = 0;
  Precision precision_ = Precision::kFull;
  std::vector<T> data_;  // kBf16: words of two numbers
};

// c [m, n] = a b + bias, with a [m, k] and bias [n] (NULL: 0).
template <class T>
void Multiply(const T* a, const Packed<T>& b, const T* bias, int64_t m, T* c);

// c [m, n] += a b.
template <class T>
void MultiplyAdd(const T* a, const Packed<T>& b, int64_t m, T* c);

// c [k, n] += transposed(a) b, with a [m, k] and b [m, n].
template <class T>
void MultiplyTransposedAdd(const T* a, int64_t k, const Packed<T>& b, T* c);

}  // namespace backplane::nn
