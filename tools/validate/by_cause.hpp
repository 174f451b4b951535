// Groups failed cases by their cause, in the order in which an author should fix them.
#pragma once

#include <vector>

#include "validate/verdict.hpp"

namespace backplane {

struct Failure {
  const CaseResult* first;  // the case to fix
  uint64_t same = 0;        // further cases that fail at the same place
  uint64_t hidden = 0;      // further cases that compare results, which the first makes meaningless
  bool is_of_rule = false;  // the rule of the case is broken; otherwise, the case could not test it
};

// Crash, exit, hang, the plugin's own error; then memory, seeds, strides; then the rest in the order of the cases. Refers to
// the results, including passed ones, which separate a broken rule from a failing call.
std::vector<Failure> ByCause(const std::vector<CaseResult>& results);

}  // namespace backplane
