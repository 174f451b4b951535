// Which edges of the code under test an input has reached. g++ calls `__sanitizer_cov_trace_pc` at the start of every basic
// block of what is compiled with -fsanitize-coverage=trace-pc; an edge is a pair of two blocks that followed each other.
#pragma once

#include <cstddef>

namespace backplane::fuzz {

// Forgets what was reached since the last call.
void BeginCoverage();

// How many edges, or how often they were passed (1, 2, 3, 4-7, 8-15, ...), are new since the program's start.
size_t NewCoverage();

// Edges of all inputs so far. 0: the code under test was compiled without coverage.
size_t EdgesSeen();

}  // namespace backplane::fuzz
