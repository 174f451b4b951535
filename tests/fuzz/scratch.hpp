// A folder for what a target writes, so that its reader has a file to read.
#pragma once

#include <filesystem>

namespace backplane::fuzz {

// This program's own, made by the first call. It goes with the program, whatever ends that.
const std::filesystem::path& ScratchFolder();

}  // namespace backplane::fuzz
