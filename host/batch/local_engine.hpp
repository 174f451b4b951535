// Runs trials on this machine, with one shim (shim.hpp) per trial.
#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "batch/engine.hpp"
#include "shim/cgroup.hpp"

namespace backplane {

// While it exists, this process is a subreaper: it becomes the parent of orphans. It can thus end a trial's processes even if
// the shim was killed. Start other child processes only before the first trial or after the last one, or they count as orphans.
// [all calls from the thread that made it, which must outlive the trials: the kernel ends shims with their thread]
class LocalEngine : public Engine {
 public:
  // `program`: backplane-shim is in its folder. `own_group`: the control group of this process; if it is delegated, this
  // process moves into a leaf of it (cgroup.hpp).
  explicit LocalEngine(const std::filesystem::path& program, std::optional<std::filesystem::path> own_group = OwnGroup());
  ~LocalEngine() override;  // kills all trials and waits for their end
  LocalEngine(const LocalEngine&) = delete;

  JobId Start(const TrialCommand& command) override;
  void Stop(JobId job, StopHow how) override;
  std::optional<StatusFile> Status(JobId job) override;
  std::vector<JobEnd> Wait(int timeout_ms) override;

 private:
  struct Job;

  JobEnd Finish(JobId id, Job& job);
  void EndOrphans(const Job& job) const;
  bool IsShim(pid_t pid) const;

  std::filesystem::path shim_;
  std::filesystem::path cgroup_;  // empty: none delegated
  std::map<JobId, std::unique_ptr<Job>> jobs_;
  JobId last_ = 0;
  int was_subreaper_ = 0;
};

}  // namespace backplane
