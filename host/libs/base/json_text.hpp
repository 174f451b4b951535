// JSON as text, where words of a plugin may be in it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

// Of files that people read too.
inline constexpr int kJsonIndent = 1;

// Bytes that are not UTF-8 become U+FFFD: a plugin's error in another encoding must not cost the record that holds it, and a
// text cut at a fixed length may end within a character.
template <class Json = nlohmann::json>  // or ordered_json
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace backplane
