// backplane-study: experiments about experiments. `backplane bench`, `tune`, `compare` and `gate` start it.
#include <csignal>

#include "arguments/tool_line.hpp"
#include "input/complete.hpp"
#include "input/other_command_names.hpp"
#include "plugin/installation.hpp"
#include "study/commands.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line = backplane::ToolLine(
      argc, argv, "Compare, tune and benchmark experiments, and check them against a baseline", BACKPLANE_VERSION);
  std::signal(SIGCHLD, SIG_DFL);  // its parent may ignore it, and then waiting for a child would fail
  backplane::OwnProgram();
  line.commands = backplane::StudyCommands();
  line.meant = backplane::MeaningsOfOtherTools();
  line.values = backplane::OfferValues;
  return backplane::RunToolLine(line);
}
