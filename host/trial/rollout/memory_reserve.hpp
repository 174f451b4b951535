// A memory reserve for the end of a trial that ran out of memory: writing its error and its result needs some.
#pragma once

#include <string>

namespace backplane {

// Call it once, at the start of a trial. Otherwise a trial that runs out of memory may end without a result.
void KeepMemoryReserve();

// Returns it to the allocator. A second call does nothing. [any]
void ReleaseMemoryReserve() noexcept;

// Call after a plugin threw std::bad_alloc: releases the reserve and throws TrialFailure (BP_E_OOM_HOST).
[[noreturn]] void FailOutOfMemory(const std::string& plugin);

}  // namespace backplane
