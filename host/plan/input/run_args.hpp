// The typed arguments of commands that read or run an experiment file.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arguments/arguments.hpp"

namespace backplane {

// The common arguments of commands that read an experiment file.
struct FileArgs {
  std::filesystem::path file;
  std::vector<std::string> set, values;  // values: words behind the file, which `set` gets too
  std::vector<std::string> plugin_path;
  std::string preset;         // empty: the preset in the file
  std::string typed_command;  // "backplane run"
};
// or_results: a results folder, too, for the command that made it.
void AddFile(Arguments* add, FileArgs* target, bool or_results = false);

// Of `run`, which `bench` and `tune` call too.
struct RunArgs {
  FileArgs input;
  std::string typed_program;       // this program as the person called it: for commands to type next
  std::vector<std::string> sweep;  // "path=1,2,4"
  std::filesystem::path out;       // empty: output.dir of the file
  bool fresh = false, accept_change = false, skip_invalid = false, dry_run = false, json = false, quiet = false,
       verbose = false;
  std::optional<std::set<std::string>> only_failed;  // classes; none: all of them
  bool only_damaged = false, only_pruned = false, adopt_history = false, keep_schedule = false;
  std::string stage;  // run only its trials; empty: all stages
  std::string apply;  // id of a finding whose first change is made; empty: none
  std::optional<unsigned> jobs;
  std::optional<std::vector<unsigned>> gpus;
  bool plan = false;  // input.file is a PlannedRun (record/planned_run.hpp)
  std::string same;   // of a plan: the command that runs it again
};

// The arguments of a command again: all of them, or only the folders of plugins.
std::string FileArguments(const FileArgs& input);
std::string PluginPathArguments(const FileArgs& input);

// The command as it can be typed again.
std::string SameCommand(const RunArgs& args, const char* command = "run");

}  // namespace backplane
