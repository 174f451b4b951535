// The number of trials in a comparison, shared by planning and judging.
#pragma once

#include <cstddef>

#include "record/compare_terms.hpp"

namespace backplane {

// `points`: arms, multiplied by tasks if there are several.

// Scores (for a speed: blocks) per arm and look. `looks.n` if set, else 5, or the smallest number with which a first look can
// separate two arms.
size_t ScoresOfALook(const CompareTerms& terms, size_t points);
// Seeds per arm and look: two per block for a speed.
size_t SeedsOfALook(const CompareTerms& terms, size_t points);
// The smallest number with which the first look can separate two arms that are far enough apart.
size_t LeastScoresOfALook(const CompareTerms& terms, size_t points);
// True if these looks can ever separate two arms at that alpha.
bool CanTellApart(const CompareTerms& terms, size_t points);

// The number of tests that share the error rate: pairs of arms on all tasks.
size_t TestsOf(const CompareTerms& terms, size_t points);

}  // namespace backplane
