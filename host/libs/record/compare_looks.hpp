// How many trials a comparison takes: what planning and judging must agree on.
#pragma once

#include <cstddef>

#include "record/compare_terms.hpp"

namespace backplane {

// `points`: arms, on each of the tasks where there are several.

// Of each arm in a look: what `looks.n` says, else 5, or the least with which a first look can tell arms apart. Blocks of a
// speed.
size_t ScoresOfALook(const CompareTerms& terms, size_t points);
// Of each arm in a look: two for each block of a speed.
size_t SeedsOfALook(const CompareTerms& terms, size_t points);
// The least for which the first look can tell two arms apart, if they are far enough.
size_t LeastScoresOfALook(const CompareTerms& terms, size_t points);
// Whether these looks can ever tell two arms apart at that alpha.
bool CanTellApart(const CompareTerms& terms, size_t points);

// Pairs of arms on all tasks: how many tests share the error.
size_t TestsOf(const CompareTerms& terms, size_t points);

}  // namespace backplane
