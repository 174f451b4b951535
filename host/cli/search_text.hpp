// What a person reads of a search: the best so far, and what became of the suggestions.
#pragma once

#include <filesystem>
#include <string>

#include "sweep/plan.hpp"

namespace backplane {

// Whole lines; empty where nothing was suggested. `plan` as the search has made it grow in `out`.
std::string SearchText(const Plan& plan, const std::filesystem::path& out);

}  // namespace backplane
