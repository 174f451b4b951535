// Guards against JSON nested so deeply that recursive code overflows the stack.
#pragma once

#include <string_view>

namespace backplane {

// True above the depth of any valid file. Ignores brackets within strings.
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
