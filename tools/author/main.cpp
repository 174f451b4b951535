// backplane-author: creates plugins, locates the SDK and installs LibTorch. `backplane new`, `sdk` and `setup` start it.
#include <cstdio>
#include <string>

#include "arguments/parse.hpp"
#include "author/commands.hpp"
#include "base/standard_descriptors.hpp"

namespace {

constexpr char kAbout[] = "Begin plugins, find the SDK and install LibTorch";

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  backplane::CommandLine line;
  line.program = backplane::TypedHost(argc, argv);
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = {backplane::NewCommand(),
                   backplane::SdkCommand(),
                   {"setup", "Install libraries that some plugins need", nullptr},
                   backplane::SetupTorchCommand()};
  return backplane::RunCommandLine(line);
}
