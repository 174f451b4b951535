// Means, and their intervals compared with a mean's known distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backplane/rng.h"
#include "rouge/aggregate.hpp"

namespace backplane::rouge {
namespace {

std::vector<Scores> Normal(size_t n, double mean, double deviation) {
  bp_rng rng{7, 0};
  std::vector<Scores> out(n);
  for (Scores& s : out)
    for (const auto type : kTypes)
      for (const auto number : kNumbers) s.*type.*number = mean + deviation * bp_rng_normal(&rng);
  return out;
}

TEST(RougeAggregate, IsThePlainMean) {
  const std::vector<Scores> scores{{.rouge1 = {1, .5, .25}}, {.rouge1 = {0, .25, .5}, .rougeLsum = {.f = 1}}};
  const Aggregate all = Summarize(scores);
  EXPECT_EQ(all.mean.rouge1.precision, .5);
  EXPECT_EQ(all.mean.rouge1.recall, .375);
  EXPECT_EQ(all.mean.rouge1.f, .375);
  EXPECT_EQ(all.mean.rougeLsum.f, .5);
  EXPECT_EQ(all.low.rouge1.f, .25) << "one draw in four takes the first score twice";
  EXPECT_EQ(all.high.rouge1.f, .5);
}

TEST(RougeAggregate, HasTheIntervalOfTheNormalDistribution) {
  const std::vector<Scores> scores = Normal(400, .3, .1);
  const Aggregate all = Summarize(scores, {.resamples = 4000});
  for (const auto type : kTypes)
    for (const auto number : kNumbers) {
      const double mean = all.mean.*type.*number;
      double square = 0;
      for (const Scores& s : scores) square += std::pow(s.*type.*number - mean, 2);
      const double half = 1.959964 * std::sqrt(square) / static_cast<double>(scores.size());
      EXPECT_NEAR(all.low.*type.*number, mean - half, .08 * half);
      EXPECT_NEAR(all.high.*type.*number, mean + half, .08 * half);
    }
}

TEST(RougeAggregate, DependsOnTheSeedAndOnNothingElse) {
  const std::vector<Scores> scores = Normal(50, .3, .1);
  EXPECT_EQ(Summarize(scores, {.seed = 3}).low.rouge1.f, Summarize(scores, {.seed = 3}).low.rouge1.f);
  EXPECT_NE(Summarize(scores, {.seed = 3}).low.rouge1.f, Summarize(scores, {.seed = 4}).low.rouge1.f);
}

TEST(RougeAggregate, MeanOfOneScoreIsTheScore) {
  const std::vector<Scores> one{{.rouge2 = {.1, .2, .3}}};
  const Aggregate all = Summarize(one);
  EXPECT_EQ(all.low.rouge2.f, .3);
  EXPECT_EQ(all.mean.rouge2.f, .3);
  EXPECT_EQ(all.high.rouge2.f, .3);
}

TEST(RougeAggregate, InterpolatesBetweenRanksAsNumpyDoes) {
  // With confidence 0 both bounds are the median of the resampled means.
  const std::vector<Scores> scores = Normal(9, .3, .1);
  const Aggregate all = Summarize(scores, {.resamples = 2, .confidence = 0}),
                  ends = Summarize(scores, {.resamples = 2, .confidence = 1});
  EXPECT_DOUBLE_EQ(all.low.rouge1.f, all.high.rouge1.f);
  EXPECT_DOUBLE_EQ(all.low.rouge1.f, (ends.low.rouge1.f + ends.high.rouge1.f) / 2);
}

TEST(RougeAggregate, RejectsScoresWithoutAMean) {
  const std::vector<Scores> one(1);
  EXPECT_THROW(Summarize({}), std::invalid_argument);
  EXPECT_THROW(Summarize(one, {.resamples = 0}), std::invalid_argument);
  EXPECT_THROW(Summarize(one, {.confidence = 95}), std::invalid_argument);
  EXPECT_THROW(Summarize(one, {.confidence = std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace backplane::rouge
