// backplane-trial: runs one trial, or plays candidates for one that runs. Batches start it, as `backplane run-trial` does.
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"
#include "contract/trial_spec.hpp"
#include "plugin/installation.hpp"
#include "program/play.hpp"
#include "program/run_trial_command.hpp"

namespace {

constexpr char kAbout[] = "Run one prepared trial";

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the end of a child cannot be waited for
  backplane::OwnProgram();
  // Trials start workers; `play` is no command of the parser.
  if (argc > 1 && std::string_view(argv[1]) == "play") backplane::Play({argv + 2, argv + argc});
  backplane::CommandLine line;
  line.program = "backplane";
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = {backplane::RunTrialCommand()};
  line.usage_code = backplane::kExitUsage;
  return backplane::RunCommandLine(line);
}
