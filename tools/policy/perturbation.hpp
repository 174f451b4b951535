// --perturb: physical parameters of the env, scaled one at a time.
#pragma once

#include <string>
#include <vector>

#include "record/evaluation_order.hpp"

namespace backplane {

// "mass=0.8..1.2,friction=0.5..1.5:3": five values per parameter, or as many as the number behind the colon; "mass=0.8" is one
// value. The first element has no factors. Throws std::runtime_error with the expected form.
std::vector<Factors> ParsePerturbations(const std::string& text);

}  // namespace backplane
