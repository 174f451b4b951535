// backplane-export: writes trained policies for other programs. `backplane export policy` starts it.
#include "arguments/tool_line.hpp"
#include "export/commands.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line = backplane::ToolLine(argc, argv, "Write trained policies for other programs", BACKPLANE_VERSION);
  line.commands = {{"export", "Convert results to other formats", nullptr},
                   backplane::ExportPolicyCommand(),
                   {"import", "Convert files of other programs", nullptr},
                   backplane::ImportPolicyCommand()};
  return backplane::RunToolLine(line);
}
