// backplane-policy: plays policies of trials. `backplane evaluate` and `inspect` start it.
#include <csignal>

#include "arguments/tool_line.hpp"
#include "input/complete.hpp"
#include "plugin/installation.hpp"
#include "policy/commands.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line =
      backplane::ToolLine(argc, argv, "Evaluate trained policies, and inspect moments of their training", BACKPLANE_VERSION);
  std::signal(SIGCHLD, SIG_DFL);  // its parent may ignore it, and then waiting for a child would fail
  backplane::OwnProgram();
  line.commands = {backplane::EvaluateCommand(), backplane::InspectCommand()};
  line.values = backplane::OfferValues;
  return backplane::RunToolLine(line);
}
