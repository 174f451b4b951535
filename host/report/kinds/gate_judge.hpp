// `gate`: on which side of its limits a change from a baseline lies.
#pragma once

#include "record/gate_answer.hpp"

namespace backplane {

// Throws std::runtime_error: no baseline, no results folder, what is no measure.
GateAnswer JudgeGate(const GateRequest& request);

}  // namespace backplane
