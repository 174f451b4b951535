// Speeds up a model without changing a bit of the simulation (decision 54).
#pragma once

#include <string>

#include "mujoco/model.hpp"

namespace mj {

// Applies three optimizations to `plain`, each only if it is valid. Explicit pairs of geoms that may touch replace the search
// in every step. If no pair may touch, contacts are disabled. Island discovery is disabled if all joints are connected. `name`
// and `xml` are the source of `plain`: a file if `xml` is empty. Snapshots use the fingerprint of `plain`.
Model Quickened(Model plain, const std::string& name, const std::string& xml);

}  // namespace mj
