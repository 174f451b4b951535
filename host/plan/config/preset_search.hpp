// The requested preset, and the folders to search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

// What `auto` chooses by: the device that trials would get.
struct PresetDevice {
  std::string name;
  uint64_t memory_bytes = 0;
};

// Folders with presets: `presets` next to the experiment file, then in the folder above it, then `folders`.
struct PresetSearch {
  std::string name = {};  // as the command line has it; empty: the file's key `preset` counts
  std::vector<std::filesystem::path> folders = {};
  std::function<std::optional<PresetDevice>()> device = {};  // asked for `auto` only
};

}  // namespace backplane
