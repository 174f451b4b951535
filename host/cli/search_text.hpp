// The terminal text of a search: the best value and the states of its suggestions.
#pragma once

#include <filesystem>
#include <string>

#include "sweep/plan.hpp"

namespace backplane {

// Whole lines; empty without suggestions. `plan` contains the suggestions in `out`.
std::string SearchText(const Plan& plan, const std::filesystem::path& out);

}  // namespace backplane
