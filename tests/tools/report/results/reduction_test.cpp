#include "results/reduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/trials.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

// Losses at iterations 1 .. n that take 10, 1, 1, ... seconds and 100 steps each.
TrialData Learned(const std::vector<double>& losses, uint64_t runners) {
  TrialData trial = MakeTrial(runners, 1, 10);
  for (size_t i = 0; i < losses.size(); ++i) {
    const double steps = 100.0 * static_cast<double>(i + 1);
    trial.curves["train/loss"].push_back({i + 1, steps, 0, losses[i], i == 0});
    trial.curves["iteration_s"].push_back({i + 1, steps, 0, i == 0 ? 10.0 : 1.0, i == 0});
    trial.curves["tokens"].push_back({i + 1, steps, 0, 50, i == 0});
  }
  return trial;
}

class Reductions : public testing::Test {
 protected:
  Combined combined_ = Combine({MakeSet({Learned({9, 5, 3, 4}, 1), Learned({8, 7, 6, 2, 1}, 2)})});

  std::optional<double> Of(const std::string& name, size_t trial = 0) {
    AddReductions({name}, &combined_);
    const Number* number = combined_.trials[trial].data.Find(name);
    return number == nullptr ? std::nullopt : std::optional(number->value);
  }
};

TEST_F(Reductions, ReduceAllValues) {
  EXPECT_EQ(9, Of("train/loss@first"));
  EXPECT_EQ(4, Of("train/loss@last"));
  EXPECT_EQ(3, Of("train/loss@min"));
  EXPECT_EQ(9, Of("train/loss@max"));
  EXPECT_EQ(21, Of("train/loss@sum"));
  EXPECT_EQ(13, Of("iteration_s@sum"));
}

TEST_F(Reductions, CountStepsToAGoal) {
  for (CombinedTrial& trial : combined_.trials) {
    trial.data.measures["env_steps"] = Reading(600);
    trial.data.curves["eval/loss"] = trial.data.curves["train/loss"];
    trial.data.registered["train/loss"] = {"", -1, ""};
  }
  EXPECT_EQ(300, Of("steps_to(eval/loss, 3)")) << "a loss is better if it is lower";
  EXPECT_EQ(600, Of("steps_to(eval/loss, 2)")) << "never reached: the end of the trial";
  EXPECT_EQ(0, Of("reached(eval/loss, 2)"));
  EXPECT_EQ(1, Of("reached(eval/loss, 2)", 1));
  EXPECT_EQ(200, Of("steps_to(train/loss, 5)")) << "by its registered direction";
  EXPECT_EQ(100, Of("steps_to(tokens, 50)"));
  EXPECT_EQ(std::nullopt, Of("steps_to(nothing, 3)"));
  combined_.trials[0].data.config["budget"]["until"] = {{"eval/loss", 4}, {"for", 2}};
  EXPECT_EQ(400, Of("steps_to(eval/loss, 4)")) << "3 and 4 are the first two in a row";
}

TEST_F(Reductions, WithoutTheFirstIteration) {
  EXPECT_EQ(4, Of("train/loss@mean"));
  EXPECT_EQ(4, Of("train/loss@p50"));
  EXPECT_DOUBLE_EQ(4.9, *Of("train/loss@p95"));  // as numpy.percentile([5, 3, 4], 95)
  EXPECT_EQ(50, Of("tokens@per_s"));
  const Number& rate = *combined_.trials[0].data.Find("tokens@per_s");
  EXPECT_EQ(3u, rate.n);
  EXPECT_EQ(0, *rate.sd);
}

// 50 in 1 s and 50 in 4 s are 20 a second, not the mean of 50 and 12.5.
TEST_F(Reductions, ARateIsOfTheWholeTime) {
  combined_.trials[0].data.curves["train/loss"].resize(3);
  combined_.trials[0].data.curves["tokens"].resize(3);
  combined_.trials[0].data.curves["iteration_s"].resize(3);
  combined_.trials[0].data.curves["iteration_s"][2].value = 4;
  EXPECT_DOUBLE_EQ(20, *Of("tokens@per_s"));
}

TEST_F(Reductions, UntilTheBestThatAllReached) {
  // The worst of 3 and 1 is 3.
  EXPECT_EQ(3, Of("train/loss@iterations_to_min", 0));
  EXPECT_EQ(4, Of("train/loss@iterations_to_min", 1));
  EXPECT_EQ(300, Of("train/loss@steps_to_min", 0));
  EXPECT_EQ(12, Of("train/loss@seconds_to_min", 0));
  EXPECT_EQ(13, Of("train/loss@seconds_to_min", 1));
  // The worst of 9 and 8 is 8.
  EXPECT_EQ(1, Of("train/loss@iterations_to_max", 0));
}

TEST_F(Reductions, AFailedTrialSetsNoTarget) {
  combined_.trials[1].data.state = TrialState::kFailed;
  combined_.trials[1].data.curves["train/loss"] = {{1, 100, 0, 9}};
  EXPECT_EQ(3, Of("train/loss@iterations_to_min", 0));
  EXPECT_EQ(std::nullopt, Of("train/loss@iterations_to_min", 1));
}

TEST_F(Reductions, APrunedTrialSetsNoTarget) {
  combined_.trials[1].data.state = TrialState::kPruned;
  combined_.trials[1].data.curves["train/loss"] = {{1, 100, 0, 9, true}};
  EXPECT_EQ(3, Of("train/loss@iterations_to_min", 0));
}

TEST_F(Reductions, EachMachineHasItsOwnTarget) {
  combined_ = Combine({MakeSet({Learned({9, 5, 3}, 1)}, "a", "here"), MakeSet({Learned({9, 8, 7}, 1)}, "b", "there")});
  EXPECT_EQ(3, Of("train/loss@iterations_to_min", 0));
  EXPECT_EQ(3, Of("train/loss@iterations_to_min", 1));
}

TEST_F(Reductions, AreNotFiniteOnlyIfTheCurveDiverged) {
  combined_ =
      Combine({MakeSet({Learned({NAN, 3, 4, NAN, 5}, 1), Learned({1, NAN, NAN, INFINITY}, 2), Learned({NAN, NAN, NAN}, 4)})});
  AddReductions({"train/loss@first", "train/loss@last", "train/loss@sum", "train/loss@min"}, &combined_);
  const auto value = [&](size_t trial, const char* how) {
    const Number* found = combined_.trials[trial].data.Find(std::string("train/loss@") + how);
    return found ? std::optional(found->value) : std::nullopt;
  };
  EXPECT_EQ(value(0, "first"), 3) << "no episode had ended before";
  EXPECT_EQ(value(0, "last"), 5);
  EXPECT_EQ(value(0, "sum"), 12);
  EXPECT_EQ(value(1, "first"), 1);
  EXPECT_EQ(value(1, "min"), 1);
  EXPECT_TRUE(std::isnan(value(1, "last").value()));
  EXPECT_TRUE(std::isnan(value(1, "sum").value()));
  for (const char* how : {"first", "last", "sum", "min"}) EXPECT_EQ(value(2, how), std::nullopt) << how;
}

TEST_F(Reductions, OmitValuesThatAreNotFinite) {
  combined_ = Combine({MakeSet({Learned({9, NAN, 3, 4}, 1), Learned({NAN, NAN}, 2)})});
  EXPECT_EQ(3, Of("train/loss@min"));
  EXPECT_EQ(3.5, Of("train/loss@p50"));
  EXPECT_EQ(3, Of("train/loss@iterations_to_min"));
  EXPECT_EQ(std::nullopt, Of("train/loss@min", 1));
  EXPECT_EQ(std::nullopt, Of("train/loss@iterations_to_min", 1));
}

TEST_F(Reductions, TheFirstIterationOfEveryAttemptWarmsUp) {
  combined_.trials[0].data.curves["iteration_s"][2] = {3, 300, 0, 50, /*warms_up=*/true};
  EXPECT_EQ(1, Of("iteration_s@mean"));
  EXPECT_EQ(50, Of("tokens@per_s"));
}

TEST_F(Reductions, CountEnvSteps) {
  EXPECT_DOUBLE_EQ(3.5, *Of("train/loss@mean:50%"));  // of the points at 300 and 400
  EXPECT_EQ(4, Of("train/loss@mean:1%"));
  EXPECT_EQ(5, Of("train/loss@step:250"));
  EXPECT_EQ(3, Of("train/loss@step:3e2"));
  EXPECT_EQ(std::nullopt, Of("train/loss@step:99"));
  EXPECT_EQ(std::nullopt, Of("train/loss@step:401"));
  EXPECT_EQ(1, Of("train/loss@step:500", 1));
}

// Both have the steps 100 to 400. As numpy.trapezoid([9, 5, 3, 4]) / 3 and numpy.trapezoid([8, 7, 6, 2]) / 3.
TEST_F(Reductions, AreasHaveCommonSteps) {
  EXPECT_DOUBLE_EQ(14.5 / 3, *Of("train/loss@area", 0));
  EXPECT_DOUBLE_EQ(18.0 / 3, *Of("train/loss@area", 1));
}

TEST_F(Reductions, AreEmptyForMissingCurves) {
  EXPECT_EQ(std::nullopt, Of("train/los@last"));
  EXPECT_EQ(std::nullopt, Of("train/loss"));
}

TEST(ReducedNames, SuggestTheNearestName) {
  EXPECT_THAT(*WhyNoReduction("train/loss@lst"), HasSubstr("'@lst' is none of @first"));
  EXPECT_THAT(*WhyNoReduction("train/loss@lst"), HasSubstr("did you mean 'last'?"));
  EXPECT_FALSE(WhyNoReduction("train/loss"));
  for (const char* known : {"x@mean:10%", "x@step:1e6", "x@area"}) EXPECT_FALSE(WhyNoReduction(known)) << known;
  for (const char* wrong : {"x@mean:0%", "x@mean:10", "x@mean:101%", "x@step:", "x@step:-1", "x@area:1"})
    EXPECT_TRUE(WhyNoReduction(wrong)) << wrong;
  EXPECT_FALSE(WhyNoReduction("train/loss@seconds_to_max"));
}

TEST(ReducedNames, HaveUnitsOfTheirOwn) {
  EXPECT_EQ("MiB", UnitAfter("max", "MiB"));
  EXPECT_EQ("tokens/s", UnitAfter("per_s", "tokens"));
  EXPECT_EQ("s", UnitAfter("seconds_to_min", "nats"));
  EXPECT_EQ("", UnitAfter("iterations_to_min", "nats"));
}

}  // namespace
}  // namespace backplane
