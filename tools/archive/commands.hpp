// The commands of backplane-archive.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arguments/command.hpp"

namespace backplane {

Command PackCommand();
Command UnpackCommand();
Command VerifyCommand();
Command GcCommand();

// An error unless the option's word is one of these. Unlike Argument::OneOf, a word may have a comma.
inline std::string UnlessOneOf(const char* option, const std::string& word, const std::vector<std::string>& words) {
  if (std::ranges::find(words, word) != words.end()) return "";
  return fmt::format("{}: expected {}, got '{}'", option, fmt::join(words, " or "), word);
}

}  // namespace backplane
