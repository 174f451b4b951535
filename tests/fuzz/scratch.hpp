// A scratch folder for the files that targets write for their readers.
#pragma once

#include <filesystem>

namespace backplane::fuzz {

// Created by the first call, one per process; removed at the end, however the process ends.
const std::filesystem::path& ScratchFolder();

}  // namespace backplane::fuzz
