// The command line: what is typed becomes a call of one command.
#pragma once

namespace backplane {

// Returns the exit code of the program.
int Main(int argc, char** argv);

}  // namespace backplane
