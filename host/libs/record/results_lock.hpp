// The lock of a results folder, held by its running batch.
#pragma once

#include <filesystem>

namespace backplane {

// False while a supervisor or a trial uses OUT. Briefly acquires the lock; a concurrent OutLock retries.
bool IsFree(const std::filesystem::path& out);

}  // namespace backplane
