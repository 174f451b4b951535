// The contract between the supervisor and a trial process: they share nothing but these files and the exit code.
//
//   trial.json           in   what to run
//   attempt-N/metrics.jsonl   one object per iteration, appended; 0: that warms up, or evaluated before any
//   attempt-N/status     a small mapped file: phase, iteration, steps; also readable after a crash
//   attempt-N/result.json     by rename, before monitors finish; exit 0 without it is a failure
//   checkpoint/          the last two, each whole or not there (checkpoint_folder.hpp)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/experiment.hpp"

namespace backplane {

inline constexpr int kTrialSchema = 1;

// Exit codes of `run-trial`; 0 with a valid result.json is success.
enum TrialExit : int {
  kExitOk = 0,
  kExitUsage = 64,
  kExitTemp = 75,    // stopped on request after a checkpoint, or worth another try
  kExitConfig = 78,  // a plugin refused its options
  kExitGpuOom = 101,
  kExitHostOom = 102,
  kExitNan = 103,
  kExitTimeout = 104,
  kExitPlugin = 110,  // a plugin broke its contract or could not be loaded
};

struct TrialPlugin {
  std::filesystem::path file;  // absolute
  std::string id;              // "env.name"
};

// Another trial, ended, whose learner this one goes on with as its own beginning: counters and budget start anew.
struct StartFrom {
  std::string trial_id;
  std::filesystem::path checkpoint_dir;
};

struct TrialSpec {
  std::string trial_id;
  uint64_t attempt = 1;
  Experiment experiment;  // resolved: options complete
  TrialPlugin env, learner;
  std::vector<TrialPlugin> monitors;          // same order as experiment.monitors
  std::map<std::string, std::string> origin;  // path of a key -> "file:line:col", for messages
  std::filesystem::path attempt_dir, checkpoint_dir;
  std::filesystem::path torch_lib;  // directory with libtorch.so; empty: none known
  bool resume = false;              // go on from checkpoint_dir
  std::optional<StartFrom> start_from;
  uint64_t seeds = 1;  // trials of its point, this one among them: they share report.max_time
};

nlohmann::json ToJson(const TrialSpec& spec);
TrialSpec TrialSpecFromJson(const nlohmann::json& json);           // throws std::runtime_error
TrialSpec ReadTrialSpec(const std::filesystem::path& trial_json);  // throws std::runtime_error that names the file

// The layout of the mapped status file. The trial writes, the supervisor reads at any time, also after a crash: single
// aligned words are atomic on the platforms we run on, and a torn text costs one wrong line on a screen.
inline constexpr char kStatusMagic[8] = "BPSTAT3";
struct StatusFile {
  char magic[8];       // kStatusMagic
  uint64_t heartbeat;  // grows while the trial is alive
  uint64_t iteration, env_steps, episodes;
  double progress;        // 0 to 1
  double sps;             // of the last iteration
  double episode_return;  // mean over the last 100 episodes; NaN before the first
  char phase[32];
  char plugin[64];  // whose code runs or ran last: for the record after a crash
  char line[256];   // last log line
  struct Live {
    char name[kMaxLiveName + 1];
    double value;    // NaN: none yet
    uint32_t added;  // not of output.live: it gives way where there is no room
  };
  Live live[kMaxLive];  // of output.live in its order, then what was added; an empty name ends them
  // Since the process began, without the time in which it was stopped, and that time; both 0 where the writer knew neither.
  double own_s, suspended_s;
};

}  // namespace backplane
