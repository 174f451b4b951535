// Names that keys had in older files: still read, and from then on as if today's had been written.
#pragma once

#include <string>

#include "config/document.hpp"
#include "config/errors.hpp"

namespace backplane {

inline constexpr char kOlderNameOfStages[] = "phases";

// "phases.rise.budget.iterations" -> "stages.rise.budget.iterations". Any other path as it is.
std::string WithTodaysName(const std::string& path);

// Every key of an experiment file, also where paths are keys. An older name beside today's is an error.
void UseTodaysNames(Node* root, Errors* errors);

}  // namespace backplane
