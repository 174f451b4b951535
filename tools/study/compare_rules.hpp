// A comparison resumes only with the rules that it started with. Changing them after a look would change the error rate.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "record/compare_terms.hpp"

namespace backplane {

// Terms of the comparison in a results folder, from its config.yaml; its plugins may be missing. Absent if there is none.
std::optional<CompareTerms> RulesOfResults(const std::filesystem::path& out);

// The first term that differs now: "looks: {"max":5} and not {"max":9}". Empty if all are equal.
std::string ChangedRule(const CompareTerms& then, const CompareTerms& now);

}  // namespace backplane
