// Reads an experiment file and the files it builds upon.
#pragma once

#include <filesystem>
#include <optional>

#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// The file merged over its `base:` by MergeOver; the base may have a base, too. The key `base` is removed. Empty: no tree could
// be made. Errors of the file are listed at place `order` of all sources.
std::optional<Node> ReadWithBase(const std::filesystem::path& file, Errors* errors, int order = 0);

// For experiment files: maps are merged, everything else is replaced, including `budget`, also if it is set by an option that
// is another name of a limit.
void MergeOver(Node over, Node* under);

}  // namespace backplane
