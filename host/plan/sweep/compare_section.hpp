// `compare:` of an experiment file, which stands instead of a sweep: its arms are points, and every look runs further seeds of
// them.
#pragma once

#include <optional>

#include "config/resolver.hpp"
#include "record/compare_terms.hpp"

namespace backplane {

// A comparison that this file is of, whose arms then stand as `sweep` in `text`, and its report is of kind ab. Absent: it is of
// none, or after errors.
std::optional<CompareTerms> TakeComparison(ExperimentText* text, Errors* errors);

}  // namespace backplane
