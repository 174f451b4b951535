// The grammar of `sweep:` and `stages:` as a JSON Schema.
#pragma once

#include <nlohmann/json.hpp>

namespace backplane {

nlohmann::json SweepSchema();
nlohmann::json StagesSchema();
nlohmann::json CompareSchema();

}  // namespace backplane
