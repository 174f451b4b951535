// JSON that another process wrote, read tolerantly: a key that is missing or of another type counts as absent.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace backplane {

// null if there is no such key, or `object` is none.
inline const nlohmann::json& At(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found != object.end() ? *found : kNothing;
}

inline std::string Text(const nlohmann::json& value, const std::string& otherwise = "") {
  return value.is_string() ? value.get<std::string>() : otherwise;
}

inline std::optional<double> NumberOf(const nlohmann::json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// A whole number from 0 on that is written as one: 3, not 3.0 or 1e300.
inline std::optional<uint64_t> CountOf(const nlohmann::json& value) {
  const bool is_count = value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
  return is_count ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

}  // namespace backplane
