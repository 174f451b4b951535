// backplane-report: turns results folders into reports. `backplane` starts it; its failure costs a report but affects no batch.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>

#include "base/error_words.hpp"
#include "base/standard_descriptors.hpp"
#include "commands/commands.hpp"
#include "log/log.hpp"

namespace {

struct Command {
  const char* name;
  const char* help;
  int (*run)(const nlohmann::json& request);
};

constexpr Command kCommands[] = {
    {"--make", "Write a report of results folders", backplane::MakeCommand},
    {"--check", "Check `report:` of an experiment file", backplane::CheckCommand},
    {"--table", "List the outcomes of a batch's trials", backplane::TableCommand},
    {"--measures", "List measures and the changes that findings propose", backplane::MeasuresCommand},
    {"--judge", "Judge a comparison by the trials so far", backplane::JudgeCommand},
    {"--gate", "Judge a change from a baseline against its limits", backplane::GateCommand},
    {"--explain", "Explain a finding", backplane::ExplainCommand},
    {"--export", "Export results to a table, to TensorBoard or to Optuna", backplane::ExportCommand},
    {"--film", "Combine an episode's pictures into one SVG", backplane::FilmCommand},
};

int Usage(std::FILE* to, int code) {
  std::fputs(
      "usage: backplane-report COMMAND < REQUEST\n"
      "       backplane-report --live OUT [PROGRAM]    writes OUT/index.html while a batch runs there\n\n"
      "`backplane` starts this program; type its commands instead. Requests are JSON; host/libs/record has their types.\n\n",
      to);
  for (const Command& command : kCommands) std::fprintf(to, "  %-11s %s\n", command.name, command.help);
  return code;
}

// A supervisor starts one; its messages only appear if a user started it.
constexpr char kLive[] = "--live";

int RunLive(const std::string& out, const std::string& program) {
  try {
    backplane::LiveCommand(out, program);
  } catch (const std::exception& error) {
    backplane::LogError("backplane: {}", backplane::WordsOf(error));
  }
  return 1;
}

int Run(const Command& command) {
  try {
    const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
    const int code = command.run(nlohmann::json::parse(request));
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    backplane::LogError("backplane: cannot write the output: {}", std::strerror(errno));
  } catch (const std::exception& error) {
    backplane::LogError("backplane: {}", backplane::WordsOf(error));
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);     // the parent may ignore it; waitpid would then fail
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // if the host is killed, the requested report is useless
  if ((argc == 3 || argc == 4) && std::string(argv[1]) == kLive) return RunLive(argv[2], argc == 4 ? argv[3] : "backplane");
  const std::string name = argc == 2 ? argv[1] : "";
  if (name == "--help") return Usage(stdout, 0);
  for (const Command& command : kCommands) {
    if (name == command.name) return Run(command);
  }
  return Usage(stderr, 2);
}
