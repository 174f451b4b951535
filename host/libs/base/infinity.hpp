// Infinity in YAML notation. JSON has no such number, so an option's value stays text until a plugin reads it.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace backplane {

inline std::optional<double> ParseInfinity(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return text == ".inf" ? std::optional(kInfinity) : text == "-.inf" ? std::optional(-kInfinity) : std::nullopt;
}

}  // namespace backplane
