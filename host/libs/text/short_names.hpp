// What columns are called that stand for paths of a configuration.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// For each path the last part of its name; the whole path where that would name two columns. `taken` are names of other
// columns.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths, const std::vector<std::string>& taken);

}  // namespace backplane
