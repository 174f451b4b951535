// Evidence of the batch on a proposed change: points that differ only in that value have tried it.
#pragma once

#include "rules/finding_case.hpp"

namespace backplane {

// Takes away the changes that the batch refutes, and those that a point which is better has already: that point is named. False
// where nothing is left of what was proposed: there is nothing to say.
bool AskTheBatch(const Case& c, Finding* finding);

}  // namespace backplane
