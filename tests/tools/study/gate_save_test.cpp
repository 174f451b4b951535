// The number of seeds that `gate save` prints.
#include "study/gate_save.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

std::vector<TrialMeasures> Scored(const std::vector<double>& scores) {
  std::vector<TrialMeasures> trials(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) trials[i].values["eval/return"] = scores[i];
  return trials;
}

std::string SeedsFor(const std::vector<double>& scores) {
  return SeedsThatHelp("eval/return", "eval/return < -5%", Scored(scores));
}

// Mean 100, sum of squares 10 x 90 = 900, s.d. sqrt(900 / 9) = 10. The limit is 5, so with z = 1.6449 + 0.8416 a side
// needs 2 x (2.4865 x 10 / 5)^2 = 49.5, rounded up, and one more for Student's tails.
TEST(SeedsThatHelp, FollowFromTheSpreadOfTheBaseline) {
  const double far = std::sqrt(90.0);
  std::vector<double> scores;
  for (int pair = 0; pair < 5; ++pair) scores.insert(scores.end(), {100 - far, 100 + far});
  EXPECT_EQ(SeedsFor(scores),
            "The standard deviation of eval/return between seeds is 10 % of its mean. With about 51 seeds, 'eval/return < -5%' "
            "passes 80 % of the changes that keep the mean; this baseline has 10.");
}

TEST(SeedsThatHelp, AreUnknownWithoutSpreadOrScore) {
  EXPECT_EQ(SeedsFor({500, 500, 500}), "");
  EXPECT_EQ(SeedsFor({500, std::nan(""), 400}), "");
  EXPECT_EQ(SeedsThatHelp("loss", "loss > 5%", Scored({1, 2, 3})), "");
}

}  // namespace
}  // namespace backplane
