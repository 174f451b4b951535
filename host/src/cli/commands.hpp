// The commands behind the command line, one function each, with what was typed as plain data. Each returns the exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace backplane {

// Of `backplane` itself; run-trial has its own (trial/contract.hpp).
enum Exit : int {
  kOk = 0,
  kFailed = 1,   // no trial is usable, or a check failed
  kUsage = 2,    // wrong command line or file: nothing was started
  kPartial = 3,  // some trials failed
  kInterrupted = 130,
};

// What run and config have in common.
struct FileArgs {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::vector<std::string> plugin_path;
  std::string preset;  // empty: what the file's key says
};

struct RunArgs {
  FileArgs input;
  std::string typed_program;       // this program as the person called it: for commands to type next
  std::vector<std::string> sweep;  // "path=1,2,4"
  std::filesystem::path out;       // empty: output.dir of the file
  bool fresh = false, accept_change = false, skip_invalid = false, dry_run = false, json = false, quiet = false;
  std::optional<std::set<std::string>> only_failed;  // classes; none: all of them
  bool only_damaged = false;
  std::string apply;  // id of a finding whose first change is made; empty: none
  std::optional<unsigned> jobs;
  std::optional<std::vector<unsigned>> gpus;
};
int RunCommand(const RunArgs& args);

struct BenchArgs {
  FileArgs input;
  std::string typed_program;
  bool all = false;            // the experiment as it is, also beside `batch`
  bool batch = false;          // by the number of envs of a runner,
  std::vector<uint64_t> rows;  // by these; empty: some
  double seconds = 10;         // that each trial trains
  uint64_t seeds = 1;
  std::filesystem::path out;  // empty: outputs/bench_<experiment>
  bool json = false;
};
int BenchCommand(const BenchArgs& args);

struct TuneArgs {
  FileArgs input;
  std::string typed_program;
  std::string point;            // of the file's sweep; empty: ReadSubjectToTune chooses
  std::string measure = "SPS";  // that changes are kept for
  double budget_s = 600;        // wall time of the measurements, without the check of learning
  double seconds = 8;           // that each trial trains
  uint64_t seeds = 4;           // trials of each side
  bool no_check = false;
  uint64_t check_steps = 0;   // env steps of each trial of the check; 0: the experiment's own budget, if it is short
  std::string check_measure;  // empty: eval/return, or return without evaluations
  std::filesystem::path out;  // empty: outputs/<experiment>_tune
  bool fresh = false, dry_run = false, json = false;
};
int TuneCommand(const TuneArgs& args);

struct ReplayArgs {
  std::filesystem::path out;
  std::string trial;  // its id, or how it begins
  bool gdb = false;
};
int ReplayCommand(const ReplayArgs& args);

struct RenderArgs {
  std::filesystem::path out;
  std::string trial;         // as for replay; empty: the only one of the folder
  uint64_t episode = 0;      // of an evaluation
  std::filesystem::path to;  // empty: in the trial's folder
};
int RenderCommand(const RenderArgs& args);

struct ConfigCheckArgs {
  FileArgs input;
  std::vector<std::string> sweep;  // axes, "path=1,2,4"
  bool file_only = false;          // run no plugin code
};
int ConfigCheckCommand(const ConfigCheckArgs& args);

struct ConfigShowArgs {
  FileArgs input;
  bool resolved = false;  // with every default
  bool origin = false;    // with the place each value comes from
};
int ConfigShowCommand(const ConfigShowArgs& args);

struct PluginArgs {
  std::vector<std::string> plugin_path;
  std::string name;  // describe: an id; seal: a file
  bool json = false, markdown = false;
};
int ConfigSchemaCommand(const PluginArgs& args);
int PluginListCommand(const PluginArgs& args);
int PluginDescribeCommand(const PluginArgs& args);
int PluginSealCommand(const PluginArgs& args);

struct BatchArgs {
  std::filesystem::path out;  // results folder
};
int WatchCommand(const BatchArgs& args);
int StoreRebuildCommand(const BatchArgs& args);

struct StatusArgs {
  std::filesystem::path out;
  bool json = false;
};
int StatusCommand(const StatusArgs& args);

struct StopArgs {
  std::filesystem::path out;
  bool now = false;  // kill instead of ask
};
int StopCommand(const StopArgs& args);

struct ReportArgs {
  std::vector<std::filesystem::path> folders;  // of results
  std::filesystem::path to;                    // empty: the folder that belongs to them
  std::string kind;                            // empty: as the experiment says
  std::string typed_program;
  std::string explain;  // id of a finding: explain it and do nothing else
  bool json = false, quiet = false;
};
int ReportCommand(const ReportArgs& args);

struct ExportArgs {
  std::string format;  // csv, tb, sqlite, optuna
  std::filesystem::path out;
  std::filesystem::path to;  // empty: standard output, OUT/tb for tb; given for sqlite
};
int ExportCommand(const ExportArgs& args);

struct DoctorArgs {
  std::vector<std::string> plugin_path;
  bool json = false;
};
int DoctorCommand(const DoctorArgs& args);

}  // namespace backplane
