// A command of a program: its name, its arguments and its function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "arguments/arguments.hpp"

namespace backplane {

// Of `backplane` itself; run-trial has its own (contract/trial_spec.hpp).
enum Exit : int {
  kOk = 0,
  kFailed = 1,     // no trial is usable, or a check failed
  kUsage = 2,      // wrong command line or file
  kPartial = 3,    // some trials failed or were not run
  kUndecided = 4,  // of `gate`
  kInterrupted = 130,
};

struct Command {
  std::string name;  // "config check" is a subcommand of `config`
  std::string help;
  // Declares the arguments. The function that it returns is called after parsing, and returns the exit code. NULL: the command
  // has subcommands, or `tool` carries it out.
  std::function<std::function<int()>(Arguments*)> declare;
  std::string tool = "";   // the program is backplane-TOOL
  std::string group = "";  // heading in --help, if not the usual one
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

}  // namespace backplane
