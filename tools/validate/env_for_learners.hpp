// Small envs to validate learners: with continuous actions, with choices, with several agents, and with a data set of texts.
// The best action follows from the observation, so a suitable learner improves within seconds.
#pragma once

#include "backplane/module.h"

namespace backplane {

const bp_module& EnvsForLearners();

}  // namespace backplane
