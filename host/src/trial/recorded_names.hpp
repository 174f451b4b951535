// Under which names a trial will record values, as its plugins tell before it runs.
#pragma once

#include "record/recorded_measures.hpp"
#include "trial/parts.hpp"

namespace backplane {

// What is registered so far, the measures of episodes and, with an evaluation, the same under eval/ and those of the floors.
// `parts` is loaded.
RecordedMeasures RecordedNames(TrialParts* parts);

}  // namespace backplane
