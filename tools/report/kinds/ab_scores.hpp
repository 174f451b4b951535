// The scores of a comparison's arms, read off their trials, and what keeps them from being compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/ab_verdict.hpp"
#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"
#include "record/compare_terms.hpp"
#include "rules/findings.hpp"

namespace backplane {

struct AbScores {
  MeasureSpec metric;
  JudgeTerms terms;
  std::vector<ArmScores> arms;            // of each point
  std::vector<std::string> whys_invalid;  // sentences; empty: the arms may be compared
  std::vector<std::string> warnings;      // sentences
};

// Uses the experiment's `terms`. Without a `compare` section there are no looks: all scores form one look of unplanned size.
// Throws std::runtime_error if the metric is not a measure.
AbScores ScoresOfArms(const Combined& combined, const std::vector<ComparedPoint>& points, const CompareTerms& terms,
                      bool one_look, const Diagnosis& diagnosis);

// For one look with all scores: explains why no difference between arms, however large, could be significant. Empty if one
// could, or if the scores are speeds.
std::string WhyNeverToldApart(const AbScores& scores);

// steps_to the goal of budget.until, else "eval/return" where any trial has it, else "return", unless the terms name another.
std::string MetricOf(const CompareTerms& terms, const Combined& combined);

}  // namespace backplane
