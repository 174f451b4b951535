// Texts of a tuning for people.
#pragma once

#include <string>
#include <vector>

#include "study/tuning.hpp"

namespace backplane {

// "2.09x (1.95 to 2.24)"; without an interval "2.09x".
std::string GainText(const Gain& gain);

// "  2.09x (1.95 to 2.24): kept, faster beyond noise"
std::string DecisionText(const TuningStep& step);

// A row per step, in order.
std::string StepTable(const Tuning& tuning, const std::string& measure);

// The gain of the kept steps, the reason for stopping, and the headroom of the updates; lines. `check` NULL: no check.
std::string OutcomeText(const Tuning& tuning, const LearningCheck* check, const std::string& measure, double budget_s);

// The interval of the difference in each round of the check, or the reason why it is missing; lines.
std::string CheckText(const LearningCheck& check);

// Lines for the head of the tuned file: its purpose, each kept step, the check.
std::vector<std::string> TunedComments(const Tuning& tuning, const LearningCheck* check, const std::string& experiment,
                                       const std::string& measure);

}  // namespace backplane
