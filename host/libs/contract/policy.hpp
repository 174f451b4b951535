// Policies for failures in their written form: "infeasible", {"retry": 3}, "3 in 60s".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "contract/experiment.hpp"

namespace backplane {

// A word or {"retry": N} with N >= 1; absent for anything else.
std::optional<FailureRule> ParseFailurePolicy(const nlohmann::json& written);
nlohmann::json FormatFailurePolicy(const FailureRule& policy);

// "COUNT in DURATION", or the number 0; absent for anything else.
std::optional<FlappingLimit> ParseFlapping(const nlohmann::json& written);
nlohmann::json FormatFlapping(const FlappingLimit& limit);

}  // namespace backplane
