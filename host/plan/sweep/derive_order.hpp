// Derived values that need each other.
#pragma once

#include <vector>

#include "sweep/grammar.hpp"

namespace backplane {

// Puts each derived value after those its expression names. A value that needs itself, at once or by way of others, is an
// error.
void OrderDerived(std::vector<Derived>* derived, Errors* errors);

}  // namespace backplane
