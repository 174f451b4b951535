// Writes index.html of a parent folder of results: its experiments with dates and results.
#pragma once

#include <filesystem>

namespace backplane {

// Lists the experiments of `out`'s parent folder, from the heads of their pages. A lock on the folder lets the last of several
// programs win. Leaves a foreign index.html alone. Skips the working directory, the temporary folder and the root, where a page
// would surprise. Ignores write errors because the list is optional.
void WriteFolderIndex(const std::filesystem::path& out);

}  // namespace backplane
