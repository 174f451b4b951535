// Links from a report to files next to it.
#pragma once

#include <string>

namespace backplane {

// A file's name as a relative URL: all but letters, digits, ".", "_" and "-" is percent-encoded.
std::string FileLink(const std::string& name);

}  // namespace backplane
