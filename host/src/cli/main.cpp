#include <csignal>
#include <string_view>

#include "base/standard_descriptors.hpp"
#include "cli/command_line.hpp"
#include "cli/play.hpp"
#include "cluster/worker.hpp"
#include "plugin/installation.hpp"

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // who started us may ignore it, and then nobody's end could be waited for
  // Neither is for people, so not among the commands of the parser.
  if (argc > 1 && std::string_view(argv[1]) == "work") {
    return backplane::Work({argv + 2, argv + argc});
  }
  backplane::OwnProgram();
  if (argc > 1 && std::string_view(argv[1]) == "play") {  // started by a trial, as `keep` is by an engine
    backplane::Play({argv + 2, argv + argc});
  }
  return backplane::Main(argc, argv);
}
