// Compared with the definition in double precision, over several parts and with the end of the decayed weights inside a part.
#include "adamw.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backplane/rng.h"

namespace backplane::seq2seq {
namespace {

constexpr int64_t kNumbers = 150'001, kDecayed = 70'003;

const bp_host& WithoutThreads() {
  static const bp_host host = [] {
    bp_host h{sizeof(bp_host)};
    h.get_extension = [](const bp_host*, const char*) -> const void* { return nullptr; };
    return h;
  }();
  return host;
}

std::vector<float> Normals(uint64_t key) {
  bp_rng rng{key, 0};
  std::vector<float> values(kNumbers);
  for (float& x : values) x = static_cast<float>(bp_rng_normal(&rng));
  return values;
}

TEST(AdamW, EqualsItsDefinition) {
  std::vector<float> first = Normals(1), second = Normals(2), weights = Normals(3), gradient = Normals(4);
  for (float& value : second) value *= value;
  const std::vector<float> first_was = first, second_was = second, weights_were = weights, gradient_was = gradient;
  const AdamWStep step{.lr = .01,
                       .beta1 = .9,
                       .beta2 = .98,
                       .epsilon = 1e-3,
                       .weight_decay = .1,
                       .factor = .5,
                       .update = 3,
                       .decayed = kDecayed};
  StepAdamW(&WithoutThreads(), step, kNumbers, gradient.data(), first.data(), second.data(), weights.data());
  for (size_t i = 0; i < kNumbers; ++i) {
    const double g = .5 * gradient_was[i], m = .9 * first_was[i] + .1 * g, v = .98 * second_was[i] + .02 * g * g;
    const double decay = i < kDecayed ? 1 - .01 * .1 : 1;
    const double wanted =
        decay * weights_were[i] - .01 * (m / (1 - std::pow(.9, 3))) / (std::sqrt(v / (1 - std::pow(.98, 3))) + 1e-3);
    ASSERT_NEAR(first[i], m, 1e-6) << i;
    ASSERT_NEAR(second[i], v, 1e-6 * std::max(1.0, v)) << i;
    ASSERT_NEAR(weights[i], wanted, 1e-6 * std::max(1.0, std::abs(wanted))) << i;
  }
}

TEST(AdamW, GradientsAreAddedAndTheirNormIsTheSums) {
  std::vector<float> a = Normals(5), b = Normals(6), c = Normals(7);
  const std::vector<float> was = a;
  const double norm = SumGradients(&WithoutThreads(), {a.data(), b.data(), c.data()}, kNumbers);
  double squares = 0;
  for (size_t i = 0; i < kNumbers; ++i) {
    ASSERT_EQ(a[i], was[i] + b[i] + c[i]) << i;
    squares += std::pow(double{a[i]}, 2);
  }
  EXPECT_NEAR(norm, std::sqrt(squares), 1e-9 * norm);
  SetToZero(&WithoutThreads(), {a.data(), c.data()}, kNumbers);
  EXPECT_EQ(a, std::vector<float>(kNumbers));
  EXPECT_EQ(c, a);
  EXPECT_NE(b, a);
}

}  // namespace
}  // namespace backplane::seq2seq
