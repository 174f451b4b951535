// A model made quicker without changing a bit of what is simulated (decision 54).
#pragma once

#include <string>

#include "mujoco/model.hpp"

namespace mj {

// `plain` with less to do, in two ways, each where it holds: the pairs of geoms that may touch are written out, so that a step
// does not search for them; and islands are not looked for where all joints hang together. `name` and `xml` are what `plain`
// was compiled from: a file if `xml` is empty. Snapshots go by the fingerprint of `plain`.
Model Quickened(Model plain, const std::string& name, const std::string& xml);

}  // namespace mj
