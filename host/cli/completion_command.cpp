#include <cstdio>

#include "cli/commands.hpp"
#include "cli/completion_scripts.hpp"

namespace backplane {
namespace {

struct CompletionArgs {
  std::string shell;
};

int CompletionCommand(const CompletionArgs& args) {
  std::fputs(CompletionScript(args.shell), stdout);
  return kOk;
}

}  // namespace

std::vector<Command> CompletionCommands() {
  const auto declare = [](CompletionArgs* args, Arguments* add) {
    add->Add("shell", "SHELL", &args->shell,
             "Which; to have it in each new shell, put `source <(backplane completion bash)` in ~/.bashrc")
        .OneOf({"bash", "zsh", "fish"})
        .Required();
  };
  return {MakeCommand<CompletionArgs>("completion", "Print what makes a shell complete commands, files, paths and trials",
                                      declare, CompletionCommand)};
}

}  // namespace backplane
