// The commands behind the command line, one function each, with what was typed as plain data. Each returns the exit code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// Of `backplane` itself; run-trial has its own (trial/contract.hpp). 3 is kept for batches in which only some trials failed.
enum Exit : int { kOk = 0, kFailed = 1, kUsage = 2, kInterrupted = 130 };

// What run and config have in common.
struct FileArgs {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::vector<std::string> plugin_path;
};

struct RunArgs {
  FileArgs input;
  std::filesystem::path out;  // empty: output.dir of the file
  bool fresh = false, json = false, quiet = false;
};
int RunCommand(const RunArgs& args);

struct ConfigCheckArgs {
  FileArgs input;
  std::vector<std::string> sweep;  // axes, "path=1,2,4"
};
int ConfigCheckCommand(const ConfigCheckArgs& args);
int ConfigSchemaCommand(const std::vector<std::string>& plugin_path);

struct ConfigShowArgs {
  FileArgs input;
  bool resolved = false;  // with every default
  bool origin = false;    // with the place each value comes from
};
int ConfigShowCommand(const ConfigShowArgs& args);

struct PluginArgs {
  std::vector<std::string> plugin_path;
  std::string name;  // describe: an id; seal: a file
  bool json = false;
};
int PluginListCommand(const PluginArgs& args);
int PluginDescribeCommand(const PluginArgs& args);
int PluginSealCommand(const PluginArgs& args);

struct DoctorArgs {
  std::vector<std::string> plugin_path;
  bool json = false;
};
int DoctorCommand(const DoctorArgs& args);

}  // namespace backplane
