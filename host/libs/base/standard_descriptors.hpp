// Descriptors 0, 1 and 2 belong to stdin, stdout and stderr, whatever a parent has closed.
#pragma once

namespace backplane {

// Opens /dev/null where one of them is closed. Without it the next file that is opened gets the number, and what is printed
// lands in it. The first thing that main does, before anything else is opened.
void OpenStandardDescriptors();

}  // namespace backplane
