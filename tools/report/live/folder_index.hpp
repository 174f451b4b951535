// index.html of a folder of results folders: which experiments there are, when they ran, and what came of them.
#pragma once

#include <filesystem>

namespace backplane {

// Of the folder in which `out` lies, from the heads of the pages in it. Under a lock of that folder, so that of several
// programs the last one's stays. Nothing is written where an index.html lies that is no page of ours, nor into the folder in
// which this program was started, the temporary one or the root: there it would surprise. What can not be
// written is not: the list is beside the point.
void WriteFolderIndex(const std::filesystem::path& out);

}  // namespace backplane
