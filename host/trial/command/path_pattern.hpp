// Patterns of paths below a folder: "runs/**", "tb/*/events.out.tfevents.*".
#pragma once

#include <string_view>

namespace backplane {

// '*' and '?' stand for characters of one name, "**" as a whole name for any number of folders. A pattern that ends in "**"
// takes everything below.
bool MatchesPath(std::string_view pattern, std::string_view path);

}  // namespace backplane
