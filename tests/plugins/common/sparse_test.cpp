// Products that skip zeros equal the dense ones bit for bit.
#include "nn/sparse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "backplane/rng.h"

namespace backplane::nn {
namespace {

class Rows : public ::testing::TestWithParam<std::pair<double, int64_t>> {  // share of nonzero numbers, outputs
 protected:
  static constexpr int64_t kRows = 150, kColumns = 37, kTaken = 61;

  Rows() : x_(kRows * kColumns), w_(Normals(kColumns * out(), 2)) {
    bp_rng rng{1, 0};
    for (float& value : x_) value = bp_rng_uniform(&rng) < GetParam().first ? static_cast<float>(bp_rng_normal(&rng)) : 0;
    rows_.Reset(kColumns);
    for (int64_t i = 0; i < kRows; ++i) rows_.Append(&x_[i * kColumns]);
    for (int32_t i = 0; i < kTaken; ++i) taken_.push_back(7 * i % static_cast<int32_t>(kRows));
    for (int32_t row : taken_) dense_.insert(dense_.end(), &x_[row * kColumns], &x_[(row + 1) * kColumns]);
    packed_.Set(w_.data(), kColumns, out());
    block_.Take(rows_, taken_);
  }
  static int64_t out() { return GetParam().second; }
  static std::vector<float> Normals(int64_t n, uint64_t key) {
    bp_rng rng{key, 0};
    std::vector<float> values(n);
    for (float& x : values) x = static_cast<float>(bp_rng_normal(&rng));
    return values;
  }
  std::vector<float> x_, w_, dense_;
  SparseRows rows_;
  std::vector<int32_t> taken_;
  Packed<float> packed_, scratch_;
  InputBlock block_;
};
INSTANTIATE_TEST_SUITE_P(Share, Rows,
                         ::testing::Values(std::pair{.1, 128}, std::pair{.1, 200}, std::pair{.1, 23}, std::pair{.9, 128},
                                           std::pair{0., 16}, std::pair{1., 5}));

TEST_P(Rows, ProductIsTheDenseOne) {
  std::vector<float> sparse = Normals(kTaken * out(), 3), dense = sparse;
  block_.AddProduct(w_.data(), packed_, sparse.data());
  MultiplyAdd(dense_.data(), packed_, kTaken, dense.data());
  EXPECT_EQ(sparse, dense);
}

TEST_P(Rows, TransposedProductIsTheDenseOne) {
  const std::vector<float> d = Normals(kTaken * out(), 4);
  std::vector<float> sparse = Normals(kColumns * out(), 5), dense = sparse;
  block_.AddTransposed(d.data(), out(), &scratch_, sparse.data());
  Packed<float> packed;
  packed.Set(d.data(), kTaken, out());
  MultiplyTransposedAdd(dense_.data(), kColumns, packed, dense.data());
  EXPECT_EQ(sparse, dense);
}

TEST_P(Rows, ReturnTheRowsThatWereAdded) {
  std::vector<float> row(kColumns);
  for (int64_t i = 0; i < kRows; ++i) {
    rows_.Dense(i, row.data());
    EXPECT_EQ(row, std::vector<float>(&x_[i * kColumns], &x_[(i + 1) * kColumns]));
  }
}

TEST(SparseRows, AreTheSameInPartsOfFloatsAndBytes) {
  SparseRows rows;
  rows.Reset(5);
  const float first[] = {0, 2.5f};
  const int8_t then[] = {-1, 0, 1};
  for (int i = 0; i < 2; ++i) rows.Add(first, 2), rows.Add(then, 3), rows.EndRow();
  float row[5];
  for (int i = 0; i < 2; ++i) {
    rows.Dense(i, row);
    EXPECT_EQ(std::vector<float>(row, row + 5), (std::vector<float>{0, 2.5f, -1, 0, 1})) << i;
  }
}

TEST(SparseRows, KeepNaN) {
  SparseRows rows;
  rows.Reset(2);
  const float from[] = {0, NAN};
  float row[2];
  rows.Append(from);
  rows.Dense(0, row);
  EXPECT_TRUE(std::isnan(row[1]));
}

}  // namespace
}  // namespace backplane::nn
