// Lists as they are typed: "0,1,2".
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace backplane {

inline std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Adds to `numbers`. Returns an error, or an empty text.
inline std::string ReadNumbers(const std::string& text, std::vector<unsigned>* numbers) {
  for (const std::string& part : SplitCommas(text)) {
    if (part.empty() || part.size() > 4 || part.find_first_not_of("0123456789") != std::string::npos)
      return "expected numbers such as 0,1,2, got '" + text + "'";
    numbers->push_back(static_cast<unsigned>(std::stoul(part)));
  }
  return "";
}

}  // namespace backplane
