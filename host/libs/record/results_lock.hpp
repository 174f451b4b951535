// The lock of a results folder, which its batch holds while it runs.
#pragma once

#include <filesystem>

namespace backplane {

// False while a supervisor or a trial keeps OUT. Takes the lock for a moment: an OutLock made meanwhile tries again.
bool IsFree(const std::filesystem::path& out);

}  // namespace backplane
