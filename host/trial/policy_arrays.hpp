// Writes arrays of another program into the bytes of a learner's policy, as its form describes them (kind "mlp" of
// backplane/ext/policy.h). Their names are as in `backplane export policy` (docs/policies.md).
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trial/array_file.hpp"

namespace backplane {

struct FilledPolicy {
  bool lacks_critic = false;  // the learner has one, and the arrays do not
};

// Fills `policy`, which `save` wrote, from `arrays`. Throws std::runtime_error with place, expected and got if an array is
// missing, left over, of another shape or not finite, or if the net differs.
FilledPolicy FillPolicy(const nlohmann::json& form, const std::map<std::string, NumpyArray>& arrays,
                        std::vector<std::byte>* policy);

}  // namespace backplane
