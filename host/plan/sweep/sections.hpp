// Sections of a sweep that name no paths themselves.
#pragma once

#include <vector>

#include "sweep/grammar.hpp"

namespace backplane {

// `files:` as an axis, each value naming one of `files`, which gets the files' trees.
Axis ReadFileAxis(const Entry& section, std::vector<SweptFile>* files, Errors* errors);

struct RandomSection {
  uint64_t trials = 0, seed = 0;
  const Node* space = nullptr;  // in the section; NULL after an error
};
RandomSection ReadRandomSection(const Entry& section, Errors* errors);

Seeds ReadSeedsSection(const Entry& section, Errors* errors);

}  // namespace backplane
