// The cases of a learner's policy ("bp.learner.policy/1").
#pragma once

#include "validate/subject.hpp"
#include "validate/verdict.hpp"

namespace backplane {

void PolicyActs(Subject& subject, CaseResult* result);
void PolicyStarts(Subject& subject, CaseResult* result);

}  // namespace backplane
