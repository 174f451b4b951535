// Small envs in which a learner is validated: one whose actions are numbers, one of choices, one of several agents, and a data
// set of texts. Each asks for what its observation tells, so that a learner of its kind improves within seconds.
#pragma once

#include "backplane/module.h"

namespace backplane {

const bp_module& EnvsForLearners();

}  // namespace backplane
