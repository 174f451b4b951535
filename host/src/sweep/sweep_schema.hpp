// The grammar of `sweep:` as a JSON Schema.
#pragma once

#include <nlohmann/json.hpp>

namespace backplane {

nlohmann::json SweepSchema();

}  // namespace backplane
