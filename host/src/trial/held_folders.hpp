// The folders that a trial writes into late, kept from its start: somebody may move them while it runs.
#pragma once

#include <filesystem>

namespace backplane {

// Holds the trial's folder and the attempt's. Once in a process. [main thread, before any other]
void HoldFolders(const std::filesystem::path& attempt_dir, const std::filesystem::path& checkpoint_dir);

// A way to one of these two: the name while it leads to the folder that is held, then the descriptor. So
// what is written at the end goes to where the rest of the trial went, and never into a folder that only has the name.
// [thread-safe]
std::filesystem::path WhereHeld(const std::filesystem::path& folder);

}  // namespace backplane
