// `gate`: on which side of its limits a change from a baseline lies.
#pragma once

#include <cstddef>
#include <string>

#include "kinds/ab_scores.hpp"
#include "record/gate_answer.hpp"

namespace backplane {

// Throws std::runtime_error without a baseline or results folder, or for an invalid measure.
GateAnswer JudgeGate(const GateRequest& request);

// One condition, over scores of the baseline and of the change. `same_seeds`: both have the same seeds in the same order.
GateJudgement JudgeCondition(const GateRequest& request, const GateCondition& condition, AbScores scores, bool same_seeds);

// For `baseline` and `now` scores judged once at `alpha`: explains why no change could ever be significant. Empty if one could.
std::string WhyNoChangeCanBeShown(size_t baseline, size_t now, double alpha);

}  // namespace backplane
