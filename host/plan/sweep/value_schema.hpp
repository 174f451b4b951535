// The JSON Schema of one value, from the rule by which it is read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "contract/value.hpp"

namespace backplane {

nlohmann::json SchemaOf(const ValueRule& rule);
// With the description `describe`. `def` is YAML text; NULL: none.
nlohmann::json Described(nlohmann::json schema, const std::string& doc, const ValueRule& rule, const char* def);

}  // namespace backplane
