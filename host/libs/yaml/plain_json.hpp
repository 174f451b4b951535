// The JSON value of YAML text without a declared type.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "yaml/document.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {

// The value as written: a plain number or flag becomes that type, everything else text.
nlohmann::json PlainJson(const Node& node);

// Returns true if plain text is a word for this value.
bool IsFlag(const std::string& text, bool value);

}  // namespace backplane
