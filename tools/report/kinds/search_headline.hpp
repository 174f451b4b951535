// The results of a search, in sentences.
#pragma once

#include <string>
#include <vector>

#include "kinds/search_parts.hpp"

namespace backplane {

// First the answer; then what fresh seeds say of it, how the trials ended, and what to mind.
std::vector<std::string> SearchVerdict(const SearchParts& parts);

}  // namespace backplane
