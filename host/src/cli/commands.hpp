// The commands of the program: what each is called, what it takes and what it does. They stand in one table, AllCommands, of
// which the command line, --help and the hints at mistyped words are made.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace backplane {

// Of `backplane` itself; run-trial has its own (trial/contract.hpp).
enum Exit : int {
  kOk = 0,
  kFailed = 1,     // no trial is usable, or a check failed
  kUsage = 2,      // wrong command line or file: nothing was started
  kPartial = 3,    // some trials failed or were not run
  kUndecided = 4,  // of `gate`
  kInterrupted = 130,
};

struct Command {
  std::string name;  // "config check" stands below `config`
  const char* help;
  // Declares the arguments. What it returns does the work once they are filled in, and returns the exit code. NULL: other
  // commands stand below this one.
  std::function<std::function<int()>(Arguments*)> declare;
};

template <class Args>
Command MakeCommand(std::string name, const char* help, std::function<void(Args*, Arguments*)> declare,
                    int (*run)(const Args&)) {
  return {std::move(name), help, [declare = std::move(declare), run](Arguments* arguments) -> std::function<int()> {
            auto args = std::make_shared<Args>();
            declare(args.get(), arguments);
            return [args, run] { return run(*args); };
          }};
}

// In the order of --help.
std::vector<Command> AllCommands();

// What commands that read an experiment file have in common.
struct FileArgs {
  std::filesystem::path file;
  std::vector<std::string> set, values;  // values: words behind the file, which `set` gets too
  std::vector<std::string> plugin_path;
  std::string preset;  // empty: what the file's key says
};

// Of `run`, which `bench` and `tune` call too.
struct RunArgs {
  FileArgs input;
  std::string typed_program;       // this program as the person called it: for commands to type next
  std::vector<std::string> sweep;  // "path=1,2,4"
  std::filesystem::path out;       // empty: output.dir of the file
  bool fresh = false, accept_change = false, skip_invalid = false, dry_run = false, json = false, quiet = false,
       verbose = false;
  std::optional<std::set<std::string>> only_failed;  // classes; none: all of them
  bool only_damaged = false, only_pruned = false, adopt_history = false;
  std::string apply;  // id of a finding whose first change is made; empty: none
  std::optional<unsigned> jobs;
  std::optional<std::vector<unsigned>> gpus;
};
int RunExperiment(const RunArgs& args);

}  // namespace backplane
