// Counts memory requests and locks of other libraries in this process. It replaces their entries for malloc and similar calls
// in the loader's tables, so that calls pass through a counter.
#pragma once

#include <cstdint>

namespace backplane {

// Starts counting for all currently loaded libraries. Returns false if this platform's tables are unknown.
bool CountAllocations();
// Allocations of the calling thread.
uint64_t AllocationsOfThread();
uint64_t LocksOfThread();

}  // namespace backplane
