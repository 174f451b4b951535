// Runs trials: starts a trial's command, reports its end, stops it. The local engine (local_engine.hpp) uses this machine;
// others use a cluster (cluster/make_engine.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/trial_spec.hpp"
#include "record/event.hpp"

namespace backplane {

// Resources granted to a trial. Cores have the kernel's numbers.
struct Allocation {
  std::vector<int> cores;
  std::vector<std::string> gpus;         // UUIDs; none: the trial sees no GPU
  std::optional<uint64_t> memory_bytes;  // for all its processes in total
  double gpu_share = 0;                  // resources.gpus: a share of one GPU, or the number of GPUs
};

struct TrialCommand {
  ChildCommand child;
  Allocation allocation;
  double grace_s = 30;                // from the request to end until the kill
  std::filesystem::path status_file;  // written by the trial; empty: none
  // Locks the trial's folder. Stays open in its shim and in the trial, which may briefly outlive both shim and supervisor. -1:
  // none.
  int trial_lock_fd = -1;
  // The shim kills a trial whose status file shows no sign of life for so long. 0: no limit.
  double silence_limit_s = 0;
};

using JobId = uint64_t;

struct JobEnd {
  JobId job = 0;
  ChildExit exit;
  std::string not_started;  // a sentence: why the program was never executed; empty: it was
  double wall_s = 0;
  uint64_t peak_rss_bytes = 0;       // largest process of the trial
  uint64_t peak_memory_bytes = 0;    // of all its processes in total, if they were watched; 0: they were not
  bool over_memory = false;          // ended because it exceeded its allocation, or by the kernel's out-of-memory killer
  std::string memory_enforced_by;    // "cgroup", "rlimit and watcher"; empty without a limit
  bool over_silence = false;         // killed because of TrialCommand::silence_limit_s
  std::string stuck;                 // "it was stopped (state T)", observed when it gave no sign of life; may be empty
  bool left = false;                 // it was killed but still waits for a disk
  std::optional<StatusFile> status;  // the last one of the trial
  std::string host;                  // host of the trial; empty: this machine
  std::string lost;                  // why its end is unknown, "its node ..."; empty: it is known
  double queued_s = 0;               // before it began, in a cluster's queue
};

enum class StopHow {
  kAsk = 1,  // SIGTERM, SIGKILL after the grace
  kKill,     // SIGKILL
  kWhere,    // SIGUSR1: record the current plugin and the calls of each thread (trial/crash.hpp)
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Throws std::runtime_error if the trial cannot start.
  virtual JobId Start(const TrialCommand& command) = 0;
  virtual void Stop(JobId job, StopHow how) = 0;
  // The status of a running job's trial; absent: none yet, or no status file.
  virtual std::optional<StatusFile> Status(JobId job) = 0;
  // Jobs that ended since the last call, each once, with all their processes. Waits up to `timeout_ms` for the first one; a
  // signal handler ends the wait.
  virtual std::vector<JobEnd> Wait(int timeout_ms) = 0;

  // Acquires the nodes. Call before the first Start of a session. Returns a sentence if trials cannot run there. Empty: they
  // can, or Ctrl-C came first. Calls `meanwhile` now and then.
  virtual std::string Open(const std::function<void()>& meanwhile) {
    (void)meanwhile;
    return "";
  }
  // Cluster jobs since the last call, for the events.
  virtual std::vector<EngineJob> NewJobs() { return {}; }
  // True if trials run on other machines, which count their own resources.
  virtual bool IsElsewhere() const { return false; }
  // False while the job waits for a node. Its time does not count until then.
  virtual bool HasBegun(JobId) { return true; }
  // Why jobs wait for a node, in the scheduler's words; empty: unknown, or none waits.
  virtual std::string WhyWaiting() { return ""; }
  // Why the node of a running job may be lost; empty: it gives signs of life.
  virtual std::string Silence(JobId) { return ""; }
};

inline constexpr char kLocalEngine[] = "local";  // the value of `engine.kind` for this machine

}  // namespace backplane
