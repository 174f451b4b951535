// Error rate of the verdict for equal arms, and its power for different ones: by simulation, with a fixed seed.
#include "statistics/welch_verdict.hpp"

#include <gtest/gtest.h>

#include <random>

namespace backplane::statistics {
namespace {

class Simulation {
 public:
  // The share of comparisons, n per arm, that find a difference. b is `effect` standard deviations of a higher.
  double Seen(size_t n, double effect, double spread_of_b = 1) {
    constexpr int kRepeats = 20000;
    int seen = 0;
    for (int i = 0; i < kRepeats; ++i) {
      const Verdict verdict = Judge(Draw(n, 0, 1), Draw(n, effect, spread_of_b));
      seen += verdict == Verdict::kMore || verdict == Verdict::kLess ? 1 : 0;
    }
    return static_cast<double>(seen) / kRepeats;
  }

 private:
  std::vector<double> Draw(size_t n, double mean, double sd) {
    std::normal_distribution<double> normal(mean, sd);
    std::vector<double> values(n);
    for (double& value : values) value = normal(generator_);
    return values;
  }
  std::mt19937_64 generator_{20};
};

TEST(Verdict, HasThePowerOfWelchsTest) {
  EXPECT_NEAR(0.79, Simulation().Seen(5, 2), 0.03);
  EXPECT_NEAR(0.768, Simulation().Seen(5, 2), 0.01) << "Student's by the noncentral t; Welch's is slightly lower";
}

TEST(Verdict, IsRarelyWrongForEqualArms) {
  EXPECT_NEAR(0.045, Simulation().Seen(5, 0), 0.01);
  EXPECT_NEAR(0.051, Simulation().Seen(10, 0), 0.01);
  EXPECT_NEAR(0.055, Simulation().Seen(5, 0, 3), 0.01) << "spreads of 1 and 3";
}

TEST(Verdict, NeedsFourScoresPerArm) {
  const std::vector<double> low = {1, 2, 3, 4, 5}, high = {101, 102, 103, 104, 105};
  const auto first = [](const std::vector<double>& all, size_t n) { return std::vector<double>(all.begin(), all.begin() + n); };
  EXPECT_EQ(Verdict::kOne, Judge(first(low, 1), high));
  EXPECT_EQ(Verdict::kOne, Judge(low, {}));
  EXPECT_EQ(Verdict::kTooFew, Judge(first(low, 3), high));
  EXPECT_EQ(Verdict::kTooFew, Judge(low, first(high, 2)));
  EXPECT_EQ(Verdict::kLess, Judge(first(low, 4), first(high, 4)));
  EXPECT_EQ(Verdict::kMore, Judge(high, low));
  EXPECT_EQ(Verdict::kNotShown, Judge(low, {1.5, 2, 3, 4, 5}));
}

TEST(Verdict, IsUndefinedWithoutSpread) {
  EXPECT_EQ(Verdict::kUndefined, Judge({500, 500, 500, 500}, {500, 500, 500, 500}));
  EXPECT_EQ(Verdict::kUndefined, Judge({0.1, 0.1, 0.1, 0.1, 0.1}, {0.2, 0.2, 0.2, 0.2, 0.2}));
  EXPECT_EQ(Verdict::kMore, Judge({500, 500, 500, 500}, {10, 11, 12, 13})) << "one side has a spread";
}

}  // namespace
}  // namespace backplane::statistics
