// The first layer of a network with mostly zero inputs: products skip the zeros. Adding 0 * w changes nothing and the order of
// the sums is ascending as in matrix.hpp, so results equal the dense product bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/matrix.hpp"

namespace backplane::nn {

// Rows of numbers of which only nonzeros are stored. Reset keeps the memory.
class SparseRows {
 public:
  void Reset(int64_t columns);    // removes all rows
  void Append(const float* row);  // [columns]
  // The same in parts: n numbers per call, in order, float, int8_t or uint8_t; then EndRow.
  template <class T>
  void Add(const T* part, int64_t n);
  void EndRow();
  void Dense(int64_t row, float* out) const;
  int64_t columns() const { return columns_; }
  int64_t rows() const { return static_cast<int64_t>(starts_.size()) - 1; }

 private:
  friend class InputBlock;
  int64_t columns_ = 0;
  int64_t at_ = 0, column_ = 0;     // where the next number of the current row is stored
  std::vector<int64_t> starts_{0};  // [rows + 1]
  std::vector<int32_t> places_;     // columns of the numbers, ascending per row; both have room for one more row
  std::vector<float> values_;
};

// Some rows as a factor of products: sparse if most numbers are 0, else dense. Not thread-safe.
class InputBlock {
 public:
  void Take(const SparseRows& from, std::span<const int32_t> rows);
  int64_t rows() const { return rows_; }

  // y [rows, out] += x w; w [columns, out] unpacked and packed.
  void AddProduct(const float* w, const Packed<float>& packed, float* y) const;
  // gradient [columns, out] += transposed(x) d, with d [rows, out].
  void AddTransposed(const float* d, int64_t out, Packed<float>* scratch, float* gradient);

 private:
  void Transpose();

  int64_t rows_ = 0, columns_ = 0;
  bool is_dense_ = false, transposed_ = false;
  std::vector<float> dense_;                     // [rows, columns]
  std::vector<int32_t> starts_, places_;         // by rows
  std::vector<int32_t> column_starts_, row_of_;  // by columns
  std::vector<float> values_, column_values_;
};

}  // namespace backplane::nn
