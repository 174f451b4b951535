// Splits a list such as "a,b,c".
#pragma once

#include <string>
#include <vector>

namespace backplane {

std::vector<std::string> SplitList(const std::string& comma_separated);

}  // namespace backplane
