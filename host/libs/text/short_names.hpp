// Short column titles for paths of a configuration.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// The last part of each path, or the whole path if two columns would have the same name. `taken` are names of other columns.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths, const std::vector<std::string>& taken);

}  // namespace backplane
