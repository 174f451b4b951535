#include "nn/sines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace backplane::nn {
namespace {

struct SinesBody {
  template <Isa isa>
  static BP_NN_INLINE void Run(const double* angles, int64_t n, double* sines, double* cosines) {
    for (int64_t i = 0; i < n; i += kMostAngles)
      SinesAndCosines<isa>(angles + i, std::min(n - i, kMostAngles), sines + i, cosines + i);
  }
};

// CartPole's angles, larger ones, and every size of small ones.
std::vector<double> Angles(size_t n) {
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> cart(-0.23, 0.23), wide(-0.4, 0.4), exponent(-40, 0);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> out = {0.0,           -0.0, 0.25, -0.125, 0x1p-1074, 0x1p-1022, -0x1p-600, 0x1p-27, kMostOfAngle,
                             0.3 + 0x1p-54, -0.3, 1.0,  -3.0,   1e300,     inf,       -inf,      nan,     -nan};
  while (out.size() < n) out.insert(out.end(), {cart(bits), wide(bits), std::exp2(exponent(bits)), cart(bits)});
  out.resize(n);
  return out;
}

void ExpectTheLibrarysBits(const std::vector<double>& angles, const std::vector<double>& sines,
                           const std::vector<double>& cosines) {
  const auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  };
  for (size_t i = 0; i < angles.size(); ++i) {
    ASSERT_TRUE(same(sines[i], std::sin(angles[i]))) << std::hexfloat << angles[i];
    ASSERT_TRUE(same(cosines[i], std::cos(angles[i]))) << std::hexfloat << angles[i];
  }
}

// A million angles keep the test short; SINES_TEST_ANGLES sets more.
size_t Wanted() {
  const char* const more = std::getenv("SINES_TEST_ANGLES");
  return (more ? std::stoul(more) : 1'000'000) / kMostAngles * kMostAngles;
}

TEST(Sines, HaveTheBitsOfTheLibrary) {
  const std::vector<double> angles = Angles(Wanted());
  std::vector<double> sines(angles.size()), cosines(angles.size());
  const auto n = static_cast<int64_t>(angles.size());
  Dispatch<SinesBody>(angles.data(), n, sines.data(), cosines.data());
  ExpectTheLibrarysBits(angles, sines, cosines);
  SinesBody::Run<Isa::kBase>(angles.data(), n, sines.data(), cosines.data());
  ExpectTheLibrarysBits(angles, sines, cosines);
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (ThisIsa() != Isa::kAvx512) return;
  OnFma<SinesBody>(angles.data(), n, sines.data(), cosines.data());
  ExpectTheLibrarysBits(angles, sines, cosines);
#endif
}

// Sure results are right for any library that errs by at most 0.55 last places. The exact values have 11 more bits.
TEST(Sines, AreSureOnlyIfTheSumIsNearItsDouble) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto lanes = kLanes<double, Isa::kBase>;
  size_t sure = 0, of = 0;
  double furthest = 0;
  const auto look = [&](double x, double got, int64_t is_sure, long double exact) {
    ++of;
    if (is_sure >= 0 || std::abs(x) > kMostOfAngle) return;
    ++sure;
    const double place = std::exp2(std::ilogb(got) - 52);
    furthest = std::max(furthest, static_cast<double>(std::abs(exact - got)) / place);
  };
  std::mt19937_64 bits(8);
  std::uniform_real_distribution<double> cart(-kMostOfAngle, kMostOfAngle);
  for (int i = 0; i < 300'000; ++i) {
    Vec<double, Isa::kBase> x, out;
    Vec<int64_t, Isa::kBase> is_sure;
    for (int64_t lane = 0; lane < lanes; ++lane) x[lane] = cart(bits);
    sines::Sine<Isa::kBase>(x, &out, &is_sure);
    for (int64_t lane = 0; lane < lanes; ++lane) look(x[lane], out[lane], is_sure[lane], std::sin((long double)x[lane]));
    sines::Cosine<Isa::kBase>(x, &out, &is_sure);
    for (int64_t lane = 0; lane < lanes; ++lane) look(x[lane], out[lane], is_sure[lane], std::cos((long double)x[lane]));
  }
  EXPECT_LT(furthest, 0.45);
  EXPECT_GT(furthest, 0.44) << "too many angles go to the library";
  EXPECT_GT(static_cast<double>(sure) / static_cast<double>(of), 0.85);
}

// Its lower neighbour is half as far away as its upper one.
TEST(Sines, LeavePowersOfTwoToTheLibrary) {
  int powers = 0;
  for (int k = 2; k < 27; ++k) {
    const Vec<double, Isa::kBase> x = {std::asin(std::exp2(-k)), -std::asin(std::exp2(-k))};
    Vec<double, Isa::kBase> out;
    Vec<int64_t, Isa::kBase> is_sure;
    sines::Sine<Isa::kBase>(x, &out, &is_sure);
    if (out[0] != std::exp2(-k)) continue;
    ++powers;
    EXPECT_GE(is_sure[0], 0) << k;
    EXPECT_GE(is_sure[1], 0) << k;
  }
  EXPECT_GT(powers, 3);
}

}  // namespace
}  // namespace backplane::nn
