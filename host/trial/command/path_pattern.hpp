// Patterns of paths below a folder: "runs/**", "tb/*/events.out.tfevents.*".
#pragma once

#include <string_view>

namespace backplane {

// '*' and '?' match characters of one name, "**" as a whole name matches any number of folders. A pattern that ends in "**"
// matches all files below.
bool MatchesPath(std::string_view pattern, std::string_view path);

}  // namespace backplane
