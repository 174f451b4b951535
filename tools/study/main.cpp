// backplane-study: experiments about experiments. `backplane bench`, `tune`, `compare` and `gate` start it.
#include <csignal>
#include <cstdio>
#include <string>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"
#include "input/complete.hpp"
#include "input/other_command_names.hpp"
#include "plugin/installation.hpp"
#include "study/commands.hpp"

namespace {

constexpr char kAbout[] = "Compare, tune and benchmark experiments, and check them against a baseline";

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // its parent may ignore it, and then waiting for a child would fail
  backplane::OwnProgram();
  backplane::CommandLine line;
  line.program = backplane::TypedHost(argc, argv);
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = backplane::StudyCommands();
  line.meant = backplane::MeaningsOfOtherTools();
  line.values = backplane::OfferValues;
  return backplane::RunCommandLine(line);
}
