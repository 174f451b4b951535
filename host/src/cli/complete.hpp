// Completion of values that the host knows: files, results folders, trials, plugins, paths of an experiment file.
#pragma once

#include <string>

#include "arguments/complete.hpp"

namespace backplane {

Offers OfferValues(const std::string& type, const TypedLine& line);

// Of bash, zsh or fish: what makes it ask. Absent: no such shell.
const char* CompletionScript(const std::string& shell);

}  // namespace backplane
