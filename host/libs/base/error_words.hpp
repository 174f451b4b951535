// The words of an exception, for people.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace backplane {

// nlohmann's messages start with the name of the class, "[json.exception.parse_error.101] ", which is removed.
inline std::string WordsOf(const std::exception& error) {
  std::string words = error.what();
  for (size_t at = 0; (at = words.find("[json.exception.", at)) != std::string::npos;) {
    const size_t end = words.find("] ", at);
    if (end == std::string::npos) break;
    words.erase(at, end + 2 - at);
  }
  return words;
}

}  // namespace backplane
