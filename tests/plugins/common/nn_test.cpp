// Products and loops compared with plain sums; a row's result must not depend on others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backplane/rng.h"
#include "nn/bf16.hpp"
#include "nn/layers.hpp"
#include "nn/matrix.hpp"
#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"

namespace backplane::nn {
namespace {

// Small whole numbers: their products and sums are exact in any order.
template <class T>
std::vector<T> Whole(int64_t n, uint64_t key) {
  bp_rng rng{key, 0};
  std::vector<T> values(n);
  for (T& x : values) x = static_cast<T>(bp_rng_below(&rng, 9)) - 4;
  return values;
}

std::vector<float> Normals(int64_t n, uint64_t key) {
  bp_rng rng{key, 0};
  std::vector<float> values(n);
  for (float& x : values) x = static_cast<float>(bp_rng_normal(&rng));
  return values;
}

// Products of whole numbers at every edge of the tiles.
template <class T>
void ExpectPlainSums(Precision precision) {
  for (int64_t m : {1, 2, 3, 7, 8, 13, 24}) {
    for (int64_t k : {1, 5, 27, 64}) {
      for (int64_t n : {1, 8, 15, 16, 17, 31, 32, 33, 48, 100}) {
        const std::vector<T> a = Whole<T>(m * k, 1), b = Whole<T>(k * n, 2), bias = Whole<T>(n, 3);
        std::vector<T> plain(m * n), transposed_b(n * k), transposed_a(k * m);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            for (int64_t p = 0; p < k; ++p) plain[i * n + j] += a[i * k + p] * b[p * n + j];
          }
        }
        for (int64_t p = 0; p < k; ++p) {
          for (int64_t j = 0; j < n; ++j) transposed_b[j * k + p] = b[p * n + j];
          for (int64_t i = 0; i < m; ++i) transposed_a[p * m + i] = a[i * k + p];
        }
        Packed<T> packed, from_transposed;
        packed.Set(b.data(), k, n, precision);
        from_transposed.SetTransposed(transposed_b.data(), n, k, precision);
        std::vector<T> with_bias(m * n), without(m * n), added(m * n, T{1});
        Multiply(a.data(), packed, bias.data(), m, with_bias.data());
        Multiply<T>(a.data(), from_transposed, nullptr, m, without.data());
        MultiplyTransposedAdd(transposed_a.data(), m, packed, added.data());
        for (int64_t i = 0; i < m * n; ++i) {
          ASSERT_EQ(with_bias[i], plain[i] + bias[i % n]) << m << " " << k << " " << n;
          ASSERT_EQ(without[i], plain[i]) << m << " " << k << " " << n;
          ASSERT_EQ(added[i], plain[i] + 1) << m << " " << k << " " << n;
        }
      }
    }
  }
}

TEST(Products, EqualPlainSumsAtEveryEdge) { ExpectPlainSums<float>(Precision::kFull); }
TEST(Products, EqualPlainSumsInDoubles) { ExpectPlainSums<double>(Precision::kFull); }

void ExpectRowsOfTheirOwn(Precision precision) {
  constexpr int64_t kRows = 29, kIn = 101, kOut = 72;
  const std::vector<float> x = Normals(kRows * kIn, 1), w = Normals(kIn * kOut, 2), bias = Normals(kOut, 3);
  Packed<float> packed;
  packed.Set(w.data(), kIn, kOut, precision);
  std::vector<float> together(kRows * kOut), alone(kOut);
  Multiply(x.data(), packed, bias.data(), kRows, together.data());
  for (int64_t r = 0; r < kRows; ++r) {
    Multiply(&x[r * kIn], packed, bias.data(), 1, alone.data());
    EXPECT_THAT(alone, ::testing::ElementsAreArray(&together[r * kOut], kOut)) << "row " << r;
  }
}

TEST(Products, ARowsBitsDoNotDependOnItsNeighbours) { ExpectRowsOfTheirOwn(Precision::kFull); }

class Bf16Products : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasBf16()) GTEST_SKIP() << "no avx512_bf16";
  }
  // Rounds to 8 bits: to nearest, ties to even.
  static float Rounded(float x) {
    if (x == 0 || !std::isfinite(x)) return x;
    int exponent;
    const double significand = std::frexp(double{x}, &exponent);
    return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(significand, 8)), exponent - 8));
  }
};

// bfloat16 represents whole numbers up to 256 exactly.
TEST_F(Bf16Products, EqualPlainSumsForWholeNumbers) { ExpectPlainSums<float>(Precision::kBf16); }
TEST_F(Bf16Products, ARowsBitsDoNotDependOnItsNeighbours) { ExpectRowsOfTheirOwn(Precision::kBf16); }

TEST_F(Bf16Products, FactorsAreRoundedToNearestAndTiesToEven) {
  std::vector<float> x = {1.00390625f, 1.01171875f, -1.01171875f, 1.003906369f, 3.5f,  1e-38f,
                          3e38f,       0.1f,        INFINITY,     257,          255.5f};
  for (float each : Normals(40, 3)) x.push_back(each);
  const auto n = static_cast<int64_t>(x.size());
  const float one = 1;
  Packed<float> unit, second;
  unit.Set(&one, 1, 1, Precision::kBf16);
  second.Set(x.data(), 1, n, Precision::kBf16);
  std::vector<float> as_first(n), as_second(n), as_transposed(n);
  Multiply<float>(x.data(), unit, nullptr, n, as_first.data());
  Multiply<float>(&one, second, nullptr, 1, as_second.data());
  MultiplyTransposedAdd(x.data(), n, unit, as_transposed.data());
  for (int64_t i = 0; i < n; ++i) {
    const float want = std::abs(x[i]) < 1.18e-38f ? 0 : Rounded(x[i]);  // a denormal number counts as 0
    EXPECT_EQ(as_first[i], want) << x[i];
    EXPECT_EQ(as_second[i], want) << x[i];
    EXPECT_EQ(as_transposed[i], want) << x[i];
  }
  EXPECT_EQ(as_first[0], 1) << "half a step above an even one";
  EXPECT_EQ(as_first[1], 1.015625f) << "half a step below an even one";
}

TEST_F(Bf16Products, KeepNaN) {
  std::vector<float> x = Normals(4 * 40, 1), w = Normals(40 * 20, 2), y(4 * 20);
  x[2 * 40 + 33] = NAN;
  Packed<float> packed;
  packed.Set(w.data(), 40, 20, Precision::kBf16);
  Multiply<float>(x.data(), packed, nullptr, 4, y.data());
  for (int64_t i = 0; i < 80; ++i) EXPECT_EQ(std::isnan(y[i]), i / 20 == 2) << i;
}

// Compared with sums in double. The bound covers k additions in float32 and the rounding of the factors, 2^-8 of each.
TEST_F(Bf16Products, AreSumsInFloatOfRoundedFactors) {
  constexpr int64_t kM = 37, kN = 75;
  for (int64_t k : {1, 27, 128, 256}) {
    const std::vector<float> a = Normals(kM * k, 1), b = Normals(k * kN, 2);
    std::vector<float> transposed_a(k * kM), transposed_b(kN * k), forward(kM * kN), backward(kM * kN), gradient(kM * kN);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t i = 0; i < kM; ++i) transposed_a[p * kM + i] = a[i * k + p];
      for (int64_t j = 0; j < kN; ++j) transposed_b[j * k + p] = b[p * kN + j];
    }
    Packed<float> packed, from_transposed;
    packed.Set(b.data(), k, kN, Precision::kBf16);
    from_transposed.SetTransposed(transposed_b.data(), kN, k, Precision::kBf16);
    Multiply<float>(a.data(), packed, nullptr, kM, forward.data());
    Multiply<float>(a.data(), from_transposed, nullptr, kM, backward.data());
    MultiplyTransposedAdd(transposed_a.data(), kM, packed, gradient.data());
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        double rounded = 0, whole = 0, size = 0;
        for (int64_t p = 0; p < k; ++p) {
          const double x = a[i * k + p], y = b[p * kN + j];
          rounded += double{Rounded(a[i * k + p])} * Rounded(b[p * kN + j]);
          whole += x * y, size += std::abs(x * y);
        }
        const double of_sums = 1.01 * static_cast<double>(k) * std::ldexp(size, -24), got = forward[i * kN + j];
        ASSERT_NEAR(got, rounded, of_sums) << k;
        ASSERT_NEAR(got, whole, of_sums + std::ldexp(size, -7) * 1.01) << k;
        ASSERT_EQ(backward[i * kN + j], forward[i * kN + j]) << "one order of sums";
        ASSERT_EQ(gradient[i * kN + j], forward[i * kN + j]) << "one order of sums";
      }
    }
  }
}

TEST(Vectors, TanhIsCloseToTheLibrarysAtEveryLength) {
  for (int64_t n : {1, 15, 16, 33}) {
    for (float x = -12; x < 12; x += 0.013f) {
      std::vector<float> y(n, x);
      TanhInPlace(y.data(), n);
      EXPECT_NEAR(y.back(), std::tanh(x), 4e-7) << x;
    }
  }
}

TEST(Vectors, ActivationsKeepNaN) {
  std::vector<float> bent(20, -1), squashed(20, -1);
  bent[3] = bent[18] = squashed[3] = squashed[18] = NAN;  // in a whole vector and in the rest
  ReluInPlace(bent.data(), 20), TanhInPlace(squashed.data(), 20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(std::isnan(bent[i]), i == 3 || i == 18) << i;
    EXPECT_EQ(std::isnan(squashed[i]), i == 3 || i == 18) << i;
  }
}

TEST(Vectors, SumOfSquaresIsSummedInDouble) {
  std::vector<float> x(100'003, 0.1f);
  EXPECT_NEAR(SumOfSquares(x.data(), 100'003), 100'003 * static_cast<double>(0.1f) * 0.1f, 1e-9);
}

// Each part uses separate lanes: summing two halves would round differently.
TEST(Vectors, PartsOfASumOfSquaresHaveTheBitsOfTheWhole) {
  for (const int64_t n : {0, 5, 16, 17, 31, 32, 40, 5003}) {
    std::vector<float> x(n);
    double plain[32] = {}, want = 0;
    for (int64_t i = 0; i < n; ++i) {
      x[i] = std::sin(static_cast<float>(i)) * std::ldexp(1.0f, static_cast<int>(i % 40) - 20);
      plain[i % 32] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    for (double each : plain) want += each;
    SquareSums sums;
    for (int64_t part = kSquareParts; part-- > 0;) sums.Add(part, x.data(), n);
    EXPECT_EQ(sums.Total(), want) << n;
    EXPECT_EQ(SumOfSquares(x.data(), n), want) << n;
  }
}

TEST(Vectors, NormalizeKeepsPrecisionAtASmallDeviation) {
  const float in[] = {1000.25f, 1e9f, -1e9f};
  const double mean[] = {1000, 0, 0}, scale[] = {4, 1, 1};
  float out[3];
  Normalize(in, mean, scale, 10, 3, out);
  EXPECT_THAT(out, ::testing::ElementsAre(1, 10, -10));
}

TEST(Adam, AgreesWithTheReference) {
  double value = 1, m = 0, v = 0;
  const double gradients[] = {.5, -1, 2}, want[] = {.90000199996, .93661188965, .89464664493};
  for (int i = 0; i < 3; ++i) {
    Adam({.lr = .1, .step = i + 1}, &gradients[i], 1, &m, &v, &value);
    EXPECT_NEAR(value, want[i], 1e-11);
  }
}

// In the square layer little of the last vectors is left after the first projection.
TEST(Layers, FirstWeightsAreOrthogonal) {
  for (const auto& [in, out] : {std::pair{3, 5}, {19, 37}, {60, 60}}) {
    const Layer layer{in, out, 0, in * out};
    std::vector<float> p(in * out + out);
    InitLayer(layer, std::sqrt(2.0), true, 1, p.data());
    for (int a = 0; a < in; ++a) {
      for (int b = 0; b < in; ++b) {
        double dot = 0;
        for (int j = 0; j < out; ++j) dot += double{p[a * out + j]} * p[b * out + j];
        EXPECT_NEAR(dot, a == b ? 2 : 0, 1e-6) << in << " x " << out << ": " << a << ", " << b;
      }
    }
  }
}

// Lengths around multiples of a register's length.
constexpr int64_t kLengths[] = {1, 3, 4, 15, 16, 17, 40, 257};

TEST(Rowwise, SoftmaxIsTheShareOfEachExponential) {
  for (const int64_t n : kLengths) {
    std::vector<float> x = Normals(2 * n, 5), y = x;
    for (int64_t i = 0; i < n; ++i) y[static_cast<size_t>(i)] = x[static_cast<size_t>(i)] += 500;  // too large for exp alone
    Softmax(2, n, y.data());
    for (int64_t row = 0; row < 2; ++row) {
      double sum = 0;
      for (int64_t i = row * n; i < (row + 1) * n; ++i) sum += std::exp(double{x[i]} - x[row * n]);
      for (int64_t i = row * n; i < (row + 1) * n; ++i) {
        const double expected = std::exp(double{x[i]} - x[row * n]) / sum;
        EXPECT_NEAR(y[i], expected, 2e-6 * expected) << n;
      }
    }
  }
}

TEST(Rowwise, LogSumExpIsTheLogarithmOfTheirSum) {
  for (const int64_t n : kLengths) {
    std::vector<float> x = Normals(n, 5);
    double sum = 0;
    for (float& value : x) sum += std::exp(double{value += 500} - 500);  // too large for exp alone
    EXPECT_NEAR(LogSumExp(n, x.data()), 500 + std::log(sum), 1e-6) << n;
  }
}

TEST(Rowwise, LayerNormHasMeanAndVarianceOfItsRow) {
  for (const int64_t n : kLengths) {
    const std::vector<float> x = Normals(2 * n, 6), weight = Normals(n, 7), bias = Normals(n, 8);
    std::vector<float> y(x.size());
    LayerNorm(x.data(), weight.data(), bias.data(), 1e-5f, 2, n, y.data());
    for (int64_t row = 0; row < 2; ++row) {
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < n; ++i) mean += x[row * n + i] / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) variance += std::pow(x[row * n + i] - mean, 2) / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_NEAR(y[row * n + i], (x[row * n + i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i], 1e-5) << n;
    }
  }
}

TEST(Rowwise, GeluUsesTheErrorFunction) {
  std::vector<float> x;
  for (double at = -12; at < 12; at += 0.01) x.push_back(static_cast<float>(at));
  std::vector<float> y = x;
  GeluInPlace(y.data(), static_cast<int64_t>(y.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = x[i] / 2 * (1 + std::erf(x[i] / std::sqrt(2.0)));
    EXPECT_NEAR(y[i], expected, 5e-7 * std::max(1.0, std::abs(double{x[i]}))) << x[i];
  }
  float last = x.back();
  GeluInPlace(&last, 1);
  EXPECT_EQ(last, y.back()) << "at any position";
}

TEST(Rowwise, HeadsAttendToRowsThatLieAnywhere) {
  for (const int64_t width : {3, 16, 20}) {
    const int64_t heads = 2, length = 5, n = heads * width;
    const std::vector<float> values = Whole<float>(7 * n, 9), query = Whole<float>(n, 10),
                             shares = Whole<float>(heads * length, 11);
    const std::vector<int64_t> places = {6, 0, 3, 3, 1};
    std::vector<const float*> rows;
    for (const int64_t place : places) rows.push_back(values.data() + place * n);
    std::vector<float> scores(heads * length), sums(n);
    DotRows(query.data(), rows.data(), length, heads, width, scores.data());
    SumRows(shares.data(), rows.data(), length, heads, width, sums.data());
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t j = 0; j < length; ++j) {
        float dot = 0;
        for (int64_t i = h * width; i < (h + 1) * width; ++i) dot += query[i] * rows[j][i];
        EXPECT_EQ(scores[h * length + j], dot);
      }
      for (int64_t i = h * width; i < (h + 1) * width; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < length; ++j) sum += shares[h * length + j] * rows[j][i];
        EXPECT_EQ(sums[i], sum);
      }
    }
  }
}

}  // namespace
}  // namespace backplane::nn
