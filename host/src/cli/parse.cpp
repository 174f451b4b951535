#include "cli/parse.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/commands.hpp"
#include "cli/parse_typo.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

using Run = std::function<int()>;

// Below the one that the rest of its name says: "config check" below `config`. What was typed chooses what runs.
void AddCommand(CLI::App* root, const Command& command, const std::string& program, Run* chosen) {
  const size_t space = command.name.find(' ');
  CLI::App* above = space == std::string::npos ? root : root->get_subcommand(command.name.substr(0, space));
  CLI::App* app = above->add_subcommand(command.name.substr(space == std::string::npos ? 0 : space + 1), command.help);
  if (!command.declare) {
    app->require_subcommand(1);
    return;
  }
  Arguments arguments(app, program);
  const Run run = command.declare(&arguments);
  app->callback([arguments, run, chosen] {
    arguments.RunChecks();
    *chosen = run;
  });
}

int Complain(CLI::App& root, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) {
    return root.exit(error);  // --help, --version
  }
  const std::string typo = ExplainTypo(root, argc, argv);
  std::fprintf(stderr, "backplane: %s\n(`backplane --help` and `backplane COMMAND --help` list what there is)\n",
               (typo.empty() ? std::string(error.what()) : typo).c_str());
  return argc > 1 && std::string(argv[1]) == "run-trial" ? static_cast<int>(kExitUsage) : static_cast<int>(kUsage);
}

// From where the person stands, if that is shorter.
std::string TypedProgram(const std::filesystem::path& program) {
  if (!program.is_absolute()) return program.string();
  std::error_code error;
  const std::filesystem::path near = std::filesystem::proximate(program, error);
  return !error && near.string().size() < program.string().size() ? near.string() : program.string();
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App root{"Backplane runs experiments: an env, a learner and monitors, each a plugin, named in a YAML file.",
                "backplane"};
  root.require_subcommand(1);
  root.set_version_flag("--version", BACKPLANE_VERSION);
  const std::string program = argc > 0 ? TypedProgram(argv[0]) : "backplane";
  Run chosen;
  for (const Command& command : AllCommands()) AddCommand(&root, command, program, &chosen);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Complain(root, error, argc, argv);
  }
  try {
    const int code = chosen();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "backplane: the output could not be written: %s\n", std::strerror(errno));
    return code == kOk ? static_cast<int>(kFailed) : code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace backplane
