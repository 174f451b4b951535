// The text about damaged trials, for every command that reads their files.
#pragma once

#include <vector>

#include "store/damage.hpp"

namespace backplane {

// Prints missing, empty and altered files and a hint to stderr. False if there are none.
bool SayDamage(const std::vector<Damage>& damage);

}  // namespace backplane
