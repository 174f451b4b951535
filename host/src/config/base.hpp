// Reads an experiment file and the files it builds upon.
#pragma once

#include <filesystem>
#include <optional>

#include "config/document.hpp"
#include "config/errors.hpp"

namespace backplane {

// The file merged over its `base:`, which may have a base of its own: maps are merged, everything else is replaced. The key
// `base` itself is gone. Nothing: not even a tree could be made.
std::optional<Node> ReadWithBase(const std::filesystem::path& file, Errors* errors);

}  // namespace backplane
