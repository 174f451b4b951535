// What is said of damaged trials, by every command that reads their files.
#pragma once

#include <vector>

#include "store/damage.hpp"

namespace backplane {

// Names on stderr what is missing, empty or altered, and what to type. False if nothing is.
bool SayDamage(const std::vector<Damage>& damage);

}  // namespace backplane
