// Writes arrays of NumPy into one .npz file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace backplane {

// Names and the .npy files to pack, uncompressed. Throws std::runtime_error, also if the file would exceed 4 GiB.
void WriteNpz(const std::filesystem::path& to, const std::vector<std::pair<std::string, std::filesystem::path>>& arrays);

}  // namespace backplane
