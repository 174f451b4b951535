// What TERMINATED and TRUNCATED may hold: 1 is the end of an episode and 0 is none; anything else is a byte that nobody meant
// to be a flag.
#pragma once

#include <cstdint>
#include <string>

#include "rollout/instance.hpp"

namespace backplane {

// One of a row's two flags is neither 0 nor 1: throws TrialFailure that names it. `when`: "at step 3 of the rollout".
[[noreturn]] void RefuseFlag(const EnvInstance& env, uint64_t row, uint8_t terminated, uint8_t truncated,
                             const std::string& when);

}  // namespace backplane
