// Whether JSON may be parsed without harm: whatever copies, compares or writes a value calls itself at each level.
#pragma once

#include <string_view>

namespace backplane {

// Nested deeper than any file of ours. Brackets within texts do not count.
inline bool IsNestedTooDeeply(std::string_view json) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      i += c == '\\';
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if ((c == '[' || c == '{') && ++depth > kMaxDepth) {
      return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace backplane
