// The engine for this machine: a keeper (keeper.hpp) for each trial.
#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "supervise/cgroup.hpp"
#include "supervise/engine.hpp"

namespace backplane {

// The processes of a job, for the records.
struct JobProcesses {
  pid_t keeper = 0;
  pid_t trial = 0;
  uint64_t trial_start_time = 0;  // process_tree.hpp
};

// [all calls from the thread that made it, which has to live as long as the trials: the kernel ends keepers with their thread]
class LocalEngine : public Engine {
 public:
  // `backplane`: the program that has the command `keep`. `own_group`: the control group of this process; if that is delegated,
  // this process moves into a leaf of it (cgroup.hpp).
  explicit LocalEngine(std::filesystem::path backplane, std::optional<std::filesystem::path> own_group = OwnGroup());
  ~LocalEngine() override;  // kills what still runs, and waits until nothing of it is left
  LocalEngine(const LocalEngine&) = delete;

  JobId Start(const TrialCommand& command) override;
  void Stop(JobId job, StopHow how) override;
  std::vector<JobEnd> Wait(int timeout_ms) override;

  // Absent until the trial's process is there, a few milliseconds after Start, and from when Wait has told the job's end.
  std::optional<JobProcesses> Processes(JobId job);

 private:
  struct Job;

  JobEnd Conclude(JobId id, Job& job);

  std::filesystem::path backplane_;
  std::filesystem::path cgroup_;  // empty: none delegated
  std::map<JobId, std::unique_ptr<Job>> jobs_;
  JobId last_ = 0;
};

}  // namespace backplane
