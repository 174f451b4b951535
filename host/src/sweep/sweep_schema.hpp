// The grammar of `sweep:` and `phases:` as a JSON Schema.
#pragma once

#include <nlohmann/json.hpp>

namespace backplane {

nlohmann::json SweepSchema();
nlohmann::json PhasesSchema();

}  // namespace backplane
