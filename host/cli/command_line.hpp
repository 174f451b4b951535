// The command line of `backplane`.
#pragma once

namespace backplane {

// Returns the exit code of the program.
int Main(int argc, char** argv);

}  // namespace backplane
