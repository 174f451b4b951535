// A reserve for the end of a trial whose memory ran out: its error and its result need some.
#pragma once

#include <string>

namespace backplane {

// Call it once, at the start of a trial. Without it, a trial that runs out of memory may end without a result.
void KeepMemoryReserve();

// Gives it back to the allocator. A second call does nothing. [any]
void ReleaseMemoryReserve() noexcept;

// A plugin let std::bad_alloc out: throws TrialFailure (BP_E_OOM_HOST) after the reserve was released.
[[noreturn]] void FailOutOfMemory(const std::string& plugin);

}  // namespace backplane
