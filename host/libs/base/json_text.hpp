// Serializes JSON that may contain text from a plugin.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

// Indentation of files that are also read by people.
inline constexpr int kJsonIndent = 1;

// Replaces invalid UTF-8 by U+FFFD: a plugin's error in another encoding must not cost its record, and a text cut at a fixed
// length may end inside a character.
template <class Json = nlohmann::json>  // or ordered_json
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace backplane
