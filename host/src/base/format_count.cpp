#include "base/format_count.hpp"

namespace backplane {

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

}  // namespace backplane
