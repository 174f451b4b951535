// backplane-archive: packs results folders and checks packed ones. `backplane pack`, `unpack`, `verify` and `gc` start it.
#include <cstdio>
#include <string>

#include "archive/commands.hpp"
#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"

namespace {

constexpr char kAbout[] = "Pack results into one file, check it, and free disk space";

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  backplane::CommandLine line;
  line.program = backplane::TypedHost(argc, argv);
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = {backplane::PackCommand(), backplane::UnpackCommand(), backplane::VerifyCommand(), backplane::GcCommand()};
  return backplane::RunCommandLine(line);
}
