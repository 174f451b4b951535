#include "text/split_list.hpp"

#include <algorithm>

namespace backplane {

std::vector<std::string> SplitList(const std::string& comma_separated) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < comma_separated.size();) {
    size_t comma = std::min(comma_separated.find(',', from), comma_separated.size());
    parts.push_back(comma_separated.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

}  // namespace backplane
