#include "nn/sparse.hpp"

#include <algorithm>

#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

// Above this share of numbers that are not 0 the dense product is faster.
constexpr double kDense = 0.4;

// y [n, out] += the sums over k in [starts[i], starts[i + 1]) of values[k] * x[places[k]], with x [.., out].
struct Sums {
  int64_t n, out;
  const int32_t *starts, *places;
  const float *values, *x;
  float* y;
};

// W vectors of columns from j on, held in registers from the first product to the last.
template <Isa isa, int W>
BP_NN_INLINE void SumColumns(const Sums& s, int64_t i, int64_t j) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  Vec<float, isa> sum[W];
  float* y = s.y + i * s.out + j;
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) Load(y + w * kWidth, &sum[w]);
  for (int32_t k = s.starts[i]; k < s.starts[i + 1]; ++k) {
    const float* x = s.x + s.places[k] * s.out + j;
    const float factor = s.values[k];
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) {
      Vec<float, isa> term;
      Load(x + w * kWidth, &term);
      sum[w] += factor * term;
    }
  }
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) Store(sum[w], y + w * kWidth);
}

struct SumsLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const Sums* sums) {
    constexpr int kWide = 8;
    constexpr int64_t kWidth = kLanes<float, isa>;
    const Sums& s = *sums;
    for (int64_t i = 0; i < s.n; ++i) {
      if (s.starts[i] == s.starts[i + 1]) continue;
      int64_t j = 0;
      for (; j + kWide * kWidth <= s.out; j += kWide * kWidth) SumColumns<isa, kWide>(s, i, j);
      for (; j + kWidth <= s.out; j += kWidth) SumColumns<isa, 1>(s, i, j);
      for (; j < s.out; ++j) {
        float sum = s.y[i * s.out + j];
        for (int32_t k = s.starts[i]; k < s.starts[i + 1]; ++k) sum += s.values[k] * s.x[s.places[k] * s.out + j];
        s.y[i * s.out + j] = sum;
      }
    }
  }
};

}  // namespace

void SparseRows::Reset(int64_t columns) {
  columns_ = columns;
  starts_.assign(1, 0);
  at_ = column_ = 0;
}

void SparseRows::Append(const float* row) {
  Add(row, columns_);
  EndRow();
}

template <class T>
void SparseRows::Add(const T* part, int64_t n) {
  int64_t at = at_;
  const auto room = static_cast<size_t>(at + columns_);
  if (values_.size() < room) values_.resize(2 * room), places_.resize(2 * room);
  int32_t* places = places_.data();
  float* values = values_.data();
  for (int64_t i = 0; i < n; ++i) {  // without a branch: which numbers are 0 cannot be foreseen
    places[at] = static_cast<int32_t>(column_ + i);
    values[at] = part[i];
    at += part[i] != 0;
  }
  at_ = at, column_ += n;
}
template void SparseRows::Add(const float*, int64_t);
template void SparseRows::Add(const int8_t*, int64_t);
template void SparseRows::Add(const uint8_t*, int64_t);

void SparseRows::EndRow() {
  starts_.push_back(at_);
  column_ = 0;
}

void SparseRows::Dense(int64_t row, float* out) const {
  std::fill_n(out, columns_, 0.0f);
  for (int64_t k = starts_[row]; k < starts_[row + 1]; ++k) out[places_[k]] = values_[k];
}

void InputBlock::Take(const SparseRows& from, std::span<const int32_t> rows) {
  rows_ = static_cast<int64_t>(rows.size()), columns_ = from.columns_;
  transposed_ = false;
  int64_t kept = 0;
  for (int32_t row : rows) kept += from.starts_[row + 1] - from.starts_[row];
  is_dense_ = static_cast<double>(kept) > kDense * static_cast<double>(rows_ * columns_);
  if (is_dense_) {
    dense_.resize(std::max<size_t>(dense_.size(), rows_ * columns_));
    for (int64_t i = 0; i < rows_; ++i) from.Dense(rows[i], &dense_[i * columns_]);
    return;
  }
  starts_.assign(1, 0);
  places_.clear(), values_.clear();
  for (int32_t row : rows) {
    const int64_t begin = from.starts_[row], end = from.starts_[row + 1];
    places_.insert(places_.end(), from.places_.begin() + begin, from.places_.begin() + end);
    values_.insert(values_.end(), from.values_.begin() + begin, from.values_.begin() + end);
    starts_.push_back(static_cast<int32_t>(values_.size()));
  }
}

void InputBlock::AddProduct(const float* w, const Packed<float>& packed, float* y) const {
  if (is_dense_) return MultiplyAdd(dense_.data(), packed, rows_, y);
  const Sums sums{rows_, packed.n(), starts_.data(), places_.data(), values_.data(), w, y};
  Dispatch<SumsLoop>(&sums);
}

// A counting sort, so that each column lists its rows in ascending order.
void InputBlock::Transpose() {
  column_starts_.assign(columns_ + 2, 0);
  for (int32_t place : places_) ++column_starts_[place + 2];
  for (int64_t i = 2; i < columns_ + 2; ++i) column_starts_[i] += column_starts_[i - 1];
  row_of_.resize(places_.size()), column_values_.resize(places_.size());
  for (int32_t row = 0; row < rows_; ++row) {
    for (int32_t k = starts_[row]; k < starts_[row + 1]; ++k) {
      const int32_t to = column_starts_[places_[k] + 1]++;
      row_of_[to] = row, column_values_[to] = values_[k];
    }
  }
  transposed_ = true;
}

void InputBlock::AddTransposed(const float* d, int64_t out, Packed<float>* scratch, float* gradient) {
  if (is_dense_) {
    scratch->Set(d, rows_, out);
    return MultiplyTransposedAdd(dense_.data(), columns_, *scratch, gradient);
  }
  if (!transposed_) Transpose();
  const Sums sums{columns_, out, column_starts_.data(), row_of_.data(), column_values_.data(), d, gradient};
  Dispatch<SumsLoop>(&sums);
}

}  // namespace backplane::nn
