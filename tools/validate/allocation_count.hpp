// How often libraries of this process ask for memory, or for a lock, without a library of our own before them: their calls of
// malloc and its like are led through a counter, by the tables in which the loader has put their addresses.
#pragma once

#include <cstdint>

namespace backplane {

// From now on calls are counted, of all libraries that are loaded now. False: this platform's tables are not known here.
bool CountAllocations();
// Of the calling thread.
uint64_t AllocationsOfThread();
uint64_t LocksOfThread();

}  // namespace backplane
