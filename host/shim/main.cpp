// A program of its own, and a small one without shared libraries: every trial has one above it for as long as it runs, and the
// start of a large program costs more than all that a shim does.
#include <unistd.h>

#include <csignal>

#include "base/standard_descriptors.hpp"
#include "shim/shim.hpp"

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);                       // if the parent ignores it, waiting for children fails
  _exit(backplane::RunShim({argv + 1, argv + argc}));  // skips exit handlers, which could delay the supervisor
}
