// Commands, options and files of this program for words that users of other tools type.
#pragma once

#include "arguments/mistake.hpp"

namespace backplane {

// For command lines about experiment files.
Meanings MeaningsOfOtherTools();

}  // namespace backplane
