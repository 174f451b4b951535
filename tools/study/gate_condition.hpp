// Parses --fail-if: "eval/return < -5%".
#pragma once

#include <string>
#include <vector>

#include "record/gate_answer.hpp"
#include "record/gate_baseline.hpp"

namespace backplane {

// Reads `text` into `condition`. Returns an error with the place, the expected and the given text; empty on success.
std::string ReadGateCondition(const std::string& text, GateCondition* condition);

// An error if the condition uses a measure that the baseline lacks, or one that is biased because its trials end at a goal.
std::string WhyNotMeasured(const GateCondition& condition, const GateBaseline& baseline);

}  // namespace backplane
