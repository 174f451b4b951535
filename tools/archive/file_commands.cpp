// pack, unpack and verify: checks the folder, and starts the program that reads and writes archives.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "archive/commands.hpp"
#include "arguments/tool_commands.hpp"
#include "base/python.hpp"
#include "log/log.hpp"
#include "record/not_results.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct PackArgs {
  fs::path out, to;
  std::string checkpoints = "last";
};

struct UnpackArgs {
  fs::path file, to;
};

struct VerifyArgs {
  fs::path file;
};

// Becomes backplane-archive.py. Returns only if that fails.
int Become(const char* command, std::vector<std::string> words) {
  const std::string python = FindPython();
  words.insert(words.begin(), {python, BesideProgram("backplane-archive.py").string(), command});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(python.c_str(), argv.data());
  LogError("backplane {}: cannot start {}: {}\nhint: set BACKPLANE_PYTHON to a Python 3.10 or newer", command, python,
           std::strerror(errno));
  return kFailed;
}

int Pack(const PackArgs& args) {
  if (!fs::exists(ResultsFolder{args.out}.plan())) {
    LogError("backplane pack: {}", NotResults(args.out));
    return kUsage;
  }
  return Become(kPackCommand.name, {args.out, args.to, args.checkpoints, BACKPLANE_VERSION});
}

int Unpack(const UnpackArgs& args) { return Become(kUnpackCommand.name, {args.file, args.to}); }

int Verify(const VerifyArgs& args) { return Become(kVerifyCommand.name, {args.file}); }

}  // namespace

Command PackCommand() {
  const auto declare = [](PackArgs* args, Arguments* add) {
    add->Out(&args->out);
    add->Add("--to", "FILE", &args->to, "File to write instead of OUT.zip");
    add->Add("--checkpoints", "last|best|best,last|none|all", &args->checkpoints, "Checkpoints of each trial to include")
        .ShowsDefault();
    add->Check([args] {
      return UnlessOneOf("--checkpoints", args->checkpoints, {"last", "best", "best,last", "last,best", "none", "all"});
    });
  };
  return MakeCommand<PackArgs>(kPackCommand.name, kPackCommand.help, declare, Pack);
}

Command UnpackCommand() {
  const auto declare = [](UnpackArgs* args, Arguments* add) {
    add->Add("FILE", "FILE", &args->file, "File that `pack` wrote").Required();
    add->Add("--to", "OUT", &args->to, "New results folder (default: the packed name, in this folder)");
  };
  return MakeCommand<UnpackArgs>(kUnpackCommand.name, kUnpackCommand.help, declare, Unpack);
}

Command VerifyCommand() {
  const auto declare = [](VerifyArgs* args, Arguments* add) {
    add->Add("FILE|OUT", "FILE|OUT", &args->file, "Packed file, or results folder that `unpack` wrote").Required();
  };
  return MakeCommand<VerifyArgs>(kVerifyCommand.name, kVerifyCommand.help, declare, Verify);
}

}  // namespace backplane
