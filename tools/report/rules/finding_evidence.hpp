// Evidence of the batch about a proposed change: points that differ only in that value.
#pragma once

#include "rules/finding_case.hpp"

namespace backplane {

// Removes changes that the batch refutes or that a better point already has, and names that point. Returns false if no proposed
// change is left.
bool AskTheBatch(const Case& c, Finding* finding);

}  // namespace backplane
