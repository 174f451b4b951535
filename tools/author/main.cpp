// backplane-author: creates plugins, locates the SDK and installs LibTorch. `backplane new`, `sdk` and `setup` start it.
#include "arguments/tool_line.hpp"
#include "author/commands.hpp"

int main(int argc, char** argv) {
  backplane::CommandLine line =
      backplane::ToolLine(argc, argv, "Begin plugins, find the SDK and install LibTorch", BACKPLANE_VERSION);
  line.commands = {backplane::NewCommand(),
                   backplane::SdkCommand(),
                   {"setup", "Install libraries that some plugins need", nullptr},
                   backplane::SetupTorchCommand()};
  return backplane::RunToolLine(line);
}
