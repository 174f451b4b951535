// Counts heap allocations of the whole process, plugins included. Link allocations.cpp into the test program.
#pragma once

#include <cstdint>

// Calls of malloc, calloc, realloc and aligned_alloc so far; always 0 if a sanitizer replaces the allocator.
uint64_t Allocations();
