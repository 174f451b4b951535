// Where trials run: starts a trial's command, tells when it ended, stops it. This machine is one engine (local_engine.hpp), a
// cluster another (cluster/make_engine.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/trial_spec.hpp"
#include "record/event.hpp"

namespace backplane {

// What a trial may use. Cores are numbers as the kernel counts them.
struct Allocation {
  std::vector<int> cores;
  std::vector<std::string> gpus;         // UUIDs; none: the trial sees no GPU
  std::optional<uint64_t> memory_bytes;  // of all its processes together
  double gpu_share = 0;                  // resources.gpus: a part of one, or how many
};

struct TrialCommand {
  ChildCommand child;
  Allocation allocation;
  double grace_s = 30;                // from being asked to end until it is killed
  std::filesystem::path status_file;  // that the trial writes; empty: none
  // Locks the trial's folder; stays open in its shim and in the trial itself, which may outlive both shim and supervisor
  // for an instant. -1: none.
  int trial_lock_fd = -1;
  // The shim kills a trial that gives no sign of life in its status file for so long. 0: no limit.
  double silence_limit_s = 0;
};

using JobId = uint64_t;

struct JobEnd {
  JobId job = 0;
  ChildExit exit;
  std::string not_started;  // why the trial's program was never executed, a sentence; empty: it was
  double wall_s = 0;
  uint64_t peak_rss_bytes = 0;       // largest process of the trial
  uint64_t peak_memory_bytes = 0;    // of all its processes together, where something watched them; 0: nothing did
  bool over_memory = false;          // ended because it went beyond its allocation, or by the kernel's out-of-memory killer
  std::string memory_enforced_by;    // "cgroup", "rlimit and watcher"; empty without a limit
  bool over_silence = false;         // killed because of TrialCommand::silence_limit_s
  std::string stuck;                 // "it was stopped (state T)", seen when it gave no sign of life; may be empty
  bool left = false;                 // it was killed, and still waits for a disk
  std::optional<StatusFile> status;  // as the trial left it
  std::string host;                  // on which it ran; empty: this machine
  std::string lost;                  // why nobody knows how it ended, "its node ..."; empty: it is known
};

enum class StopHow {
  kAsk = 1,  // SIGTERM, SIGKILL after the grace
  kKill,     // SIGKILL
  kWhere,    // SIGUSR1: to write down whose code it is in, and the calls of each thread (trial/crash.hpp)
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Throws std::runtime_error if it can not be started.
  virtual JobId Start(const TrialCommand& command) = 0;
  virtual void Stop(JobId job, StopHow how) = 0;
  // What the trial of a running job says of itself now; absent: nothing yet, or it has no status file.
  virtual std::optional<StatusFile> Status(JobId job) = 0;
  // Those that ended since the last call, each once, together with everything they started. Waits for the first one for at most
  // `timeout_ms`, less if a signal handler ran.
  virtual std::vector<JobEnd> Wait(int timeout_ms) = 0;

  // Before the first Start of a session: gets hold of the nodes. Why nothing can run there, a sentence; empty: it can, or a
  // Ctrl-C came first.
  virtual std::string Open() { return ""; }
  // The cluster's jobs that are new since the last call, for the events.
  virtual std::vector<EngineJob> NewJobs() { return {}; }
  // Trials run on other machines: what is granted to one is counted there.
  virtual bool IsElsewhere() const { return false; }
  // False while it waits for a node: until then no time of it counts.
  virtual bool HasBegun(JobId) { return true; }
};

inline constexpr char kLocalEngine[] = "local";  // the word of `engine.kind` for this machine

}  // namespace backplane
