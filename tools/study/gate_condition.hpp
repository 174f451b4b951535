// Parses --fail-if: "eval/return < -5%".
#pragma once

#include <string>
#include <vector>

#include "record/gate_answer.hpp"
#include "record/gate_baseline.hpp"

namespace backplane {

// A sentence: what is wrong with it, where, what was wanted and found; empty: it was read into `condition`.
std::string ReadGateCondition(const std::string& text, GateCondition* condition);

// A sentence if it speaks of what the baseline has not measured.
std::string WhyNotMeasured(const GateCondition& condition, const GateBaseline& baseline);

}  // namespace backplane
