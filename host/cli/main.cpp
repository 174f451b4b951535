#include <csignal>
#include <string_view>

#include "base/standard_descriptors.hpp"
#include "cli/command_line.hpp"
#include "cluster/worker.hpp"
#include "plugin/installation.hpp"

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the end of a child cannot be waited for
  // It is not for people, so not among the commands of the parser.
  if (argc > 1 && std::string_view(argv[1]) == "work") {
    return backplane::Work({argv + 2, argv + argc});
  }
  backplane::OwnProgram();
  return backplane::Main(argc, argv);
}
