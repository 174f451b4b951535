// Counts how often other libraries of this process ask for memory or for a lock. It replaces their entries for malloc and
// similar calls in the loader's tables, so calls pass through a counter.
#pragma once

#include <cstdint>

namespace backplane {

// From now on calls are counted, of all libraries that are loaded now. False: this platform's tables are not known here.
bool CountAllocations();
// Allocations of the calling thread.
uint64_t AllocationsOfThread();
uint64_t LocksOfThread();

}  // namespace backplane
