// The nodes of a Slurm cluster: arrays of workers, jobs of the queue that each run many trials, one after the other, so that a
// short trial costs no turn in the queue.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "cluster/engine_needs.hpp"
#include "cluster/folder_engine.hpp"
#include "cluster/slurm.hpp"

namespace backplane {

class SlurmEngine : public FolderEngine {
 public:
  // Throws std::runtime_error with a sentence if this machine has no Slurm, or it can not give what is asked for.
  explicit SlurmEngine(const EngineRequest& request);
  static std::string WhyNot(const EngineConfig& config);  // as WhyNoEngine says
  ~SlurmEngine() override;                                // cancels what it has in the queue

  std::string Open() override;
  size_t at_once() const { return at_once_; }

 private:
  using Clock = std::chrono::steady_clock;

  // A worker that Slurm does not count among the running ones.
  struct Suspect {
    Clock::time_point since;
    uint64_t heartbeats = 0;  // of its trials, then
  };

  void Ordered(const WorkOrder&) override {}
  std::vector<Lost> FindLost() override;
  void Submit(size_t tasks);
  // Takes the end of sbatch, if it has come. Returns a sentence if it failed.
  std::string ReadSubmit();
  // Calls squeue every few seconds, and returns each readable answer once. Never waits.
  std::optional<SlurmTasks> Hear();
  std::vector<Lost> LostWorkers(const SlurmTasks& tasks);
  bool IsLost(const std::string& worker, const SlurmTasks& tasks, std::map<std::string, Suspect>* suspects);
  bool AnyUnlisted(const SlurmTasks& tasks);
  std::vector<Lost> LostToSilence() const;
  std::vector<Lost> AllWaiting(const std::string& why) const;
  uint64_t HeartbeatsOf(const std::string& worker);
  void AdoptArrays();
  void AddArray(const std::string& job);
  void Warn(const std::string& sentence);
  bool AnyWorker() const { return !NamesIn(at().workers()).empty(); }

  EngineRequest request_;
  size_t at_once_ = 1;             // trials
  size_t tasks_ = 1, slots_ = 1;   // jobs of an array, trials at the same time in each
  std::vector<std::string> jobs_;  // arrays, by Slurm's numbers
  std::map<std::string, Suspect> suspects_;
  std::map<std::string, Clock::time_point> unlisted_;  // arrays of which Slurm listed no task, and since when
  Clock::time_point asked_ = Clock::now();
  std::optional<Clock::time_point> silent_since_;  // no answer could be read since then
  std::unique_ptr<ProgramCall> ask_, submit_;
  std::string warned_;
  size_t in_vain_ = 0;  // arrays of which no worker came
};

}  // namespace backplane
