// backplane-runs: exchanges runs with other tools. `backplane import` starts it.
#include "arguments/tool_line.hpp"
#include "plugin/installation.hpp"
#include "runs/commands.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line = backplane::ToolLine(argc, argv, "Exchange runs with other tools", BACKPLANE_VERSION);
  backplane::OwnProgram();
  line.commands = backplane::ExportRunsCommands();
  line.commands.push_back(backplane::ImportCommand());
  return backplane::RunToolLine(line);
}
