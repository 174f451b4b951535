// Reads an experiment file and the files it builds upon.
#pragma once

#include <filesystem>
#include <optional>

#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// The file merged over its `base:`, which may have a base of its own, as MergeOver says. The key
// `base` itself is gone. Nothing: not even a tree could be made. Errors of the file are listed at place `order` of all sources.
std::optional<Node> ReadWithBase(const std::filesystem::path& file, Errors* errors, int order = 0);

// Of experiment files: maps are merged, everything else is replaced, and `budget` is, also where a plugin's option is another
// name of one of its limits.
void MergeOver(Node over, Node* under);

}  // namespace backplane
