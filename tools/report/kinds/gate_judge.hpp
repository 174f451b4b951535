// `gate`: on which side of its limits a change from a baseline lies.
#pragma once

#include <cstddef>
#include <string>

#include "record/gate_answer.hpp"

namespace backplane {

// Throws std::runtime_error: no baseline, no results folder, what is no measure.
GateAnswer JudgeGate(const GateRequest& request);

// Of that many scores of each side, judged once, each at `alpha`: why no change between them can ever be shown, however large
// it is. Empty: one can.
std::string WhyNoChangeCanBeShown(size_t baseline, size_t now, double alpha);

}  // namespace backplane
