// A warning of a trial. Its first line is the same for all trials that it concerns, so that a batch prints it once. The
// further lines differ: numbers, an example.
#pragma once

#include <string>

namespace backplane {

inline std::string WarningKind(const std::string& warning) { return warning.substr(0, warning.find('\n')); }

// For the terminal.
inline std::string WarningOnOneLine(std::string warning) {
  for (size_t at = warning.find('\n'); at != warning.npos; at = warning.find('\n', at)) warning.replace(at, 1, "; ");
  return warning;
}

}  // namespace backplane
