// Whole numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace backplane {

std::string FormatCount(uint64_t count);  // "300,000", whatever the locale

}  // namespace backplane
