// Names that people give to files which the host then writes.
#pragma once

#include <string>

namespace backplane {

// Whether a file can have that name in any folder, and every listing shows it: valid UTF-8 that is not empty, without slashes,
// backslashes and control characters, and not hidden by a leading dot.
bool IsFileName(const std::string& text);

}  // namespace backplane
