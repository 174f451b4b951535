// Counts heap allocations of the whole process, plugins included. Link allocations.cpp into the test program.
#pragma once

#include <cstdint>

// Calls of malloc, calloc, realloc and aligned_alloc so far; 0 always where a sanitizer owns the heap.
uint64_t Allocations();
