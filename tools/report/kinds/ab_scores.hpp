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

// `terms` as the experiment has them; without a `compare:` of its own, and so without looks, all scores there are are one look,
// of which nobody has asked yet whether they are enough.
// Throws std::runtime_error if the metric is no measure.
AbScores ScoresOfArms(const Combined& combined, const std::vector<ComparedPoint>& points, const CompareTerms& terms,
                      bool one_look, const Diagnosis& diagnosis);

// Of all scores in one look: a sentence if no pair of arms can be told apart, however far they are; empty: one can, or these
// are speeds.
std::string WhyNeverToldApart(const AbScores& scores);

// "eval/return" where any trial has it, else "return", unless the terms name another.
std::string MetricOf(const CompareTerms& terms, const Combined& combined);

}  // namespace backplane
