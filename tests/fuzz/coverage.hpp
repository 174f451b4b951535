// Counts the edges of the code under test that inputs reach. g++ calls `__sanitizer_cov_trace_pc` at the start of every basic
// block compiled with -fsanitize-coverage=trace-pc. An edge is a pair of consecutive blocks.
#pragma once

#include <cstddef>

namespace backplane::fuzz {

// Forgets the edges reached since the last call.
void BeginCoverage();

// The number of new edges since the program started. An edge counts again in each higher range of passes (1, 2, 3, 4-7, ...).
size_t NewCoverage();

// Edges reached by all inputs so far. 0 means that the code under test was compiled without coverage.
size_t EdgesSeen();

}  // namespace backplane::fuzz
