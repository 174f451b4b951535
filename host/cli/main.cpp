#include <algorithm>
#include <csignal>
#include <string_view>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"
#include "cli/commands.hpp"
#include "cli/help_topic.hpp"
#include "cli/tools.hpp"
#include "cluster/worker.hpp"
#include "input/complete.hpp"
#include "input/other_command_names.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

bool IsHelp(const std::string& word) { return word == "--help" || word == "-h"; }

int RunCommand(int argc, char** argv) {
  CommandLine line;
  line.program = argc > 0 ? argv[0] : "backplane";
  line.words = TypedWords(argc, argv);
  line.commands = AllCommands();
  if (const std::optional<std::string> topic = TopicAsked({argv + 1, argv + std::max(argc, 1)}, line.commands)) {
    return PrintTopic(*topic, line.commands, {argv + 3, argv + argc});  // behind `help TOPIC`
  }
  if (const std::optional<int> failed = StartTool(line.program, line.words, line.commands)) return *failed;
  line.about = "Run RL experiments. A YAML file names an env, a learner and monitors, each a plugin.";
  line.version = BACKPLANE_VERSION;
  line.more_commands = [&line] { return ToolCommands(line.commands, std::ranges::all_of(line.words, IsHelp)); };
  line.meant = MeaningsOfOtherTools();
  line.values = OfferValues;
  return RunCommandLine(line);
}

}  // namespace
}  // namespace backplane

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the end of a child cannot be waited for
  // It is not for people, so not among the commands of the parser.
  if (argc > 1 && std::string_view(argv[1]) == "work") {
    return backplane::Work({argv + 2, argv + argc});
  }
  backplane::OwnProgram();
  return backplane::RunCommand(argc, argv);
}
