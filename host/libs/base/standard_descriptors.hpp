// Keeps descriptors 0, 1 and 2 for stdin, stdout and stderr even if the parent closed them.
#pragma once

namespace backplane {

// Opens /dev/null for each closed one. Otherwise the next opened file would get its number and receive the output. Call it
// first in main, before opening any file.
void OpenStandardDescriptors();

}  // namespace backplane
