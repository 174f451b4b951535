// Derived values that need each other.
#pragma once

#include <vector>

#include "sweep/grammar.hpp"

namespace backplane {

// Puts each derived value after the ones in its expression. A value that depends on itself, directly or through others, is
// an error.
void OrderDerived(std::vector<Derived>* derived, Errors* errors);

}  // namespace backplane
