// backplane-archive: packs results folders and checks packed ones. `backplane pack`, `unpack`, `verify` and `gc` start it.
#include "archive/commands.hpp"
#include "arguments/tool_line.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line =
      backplane::ToolLine(argc, argv, "Pack results into one file, check it, and free disk space", BACKPLANE_VERSION);
  line.commands = {backplane::PackCommand(), backplane::UnpackCommand(), backplane::VerifyCommand(), backplane::GcCommand()};
  return backplane::RunToolLine(line);
}
