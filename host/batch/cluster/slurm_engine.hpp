// Runs trials on the nodes of a Slurm cluster: arrays of workers that run many trials each, so that a short trial does not wait
// in the queue.
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
  // Throws std::runtime_error with a sentence if this machine has no Slurm, or if Slurm cannot provide the requested resources.
  explicit SlurmEngine(const EngineRequest& request);
  static std::string WhyNot(const EngineConfig& config);  // see WhyNoEngine
  ~SlurmEngine() override;                                // cancels its jobs in the queue

  std::string Open(const std::function<void()>& meanwhile) override;
  std::string WhyWaiting() override { return why_waiting_; }
  std::string Silence(JobId job) override;
  size_t at_once() const { return at_once_; }

 private:
  using Clock = std::chrono::steady_clock;

  // A worker that Slurm does not list as running.
  struct Suspect {
    Clock::time_point since;
    uint64_t heartbeats = 0;  // of its trials at that time
  };

  void Ordered(const WorkOrder&) override {}
  std::vector<Lost> FindLost() override;
  void Submit(size_t tasks);
  // The requested resources and the limits of the partition.
  std::string Numbers() const;
  // Why Slurm never starts the pending jobs; empty: it may.
  std::string WhyNever(const SlurmTasks& tasks) const;
  // Returns a sentence if sbatch has ended with an error.
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
  size_t tasks_ = 1, slots_ = 1;   // jobs per array, parallel trials per job
  std::vector<std::string> jobs_;  // array numbers from Slurm
  std::map<std::string, Suspect> suspects_;
  std::map<std::string, Clock::time_point> unlisted_;  // arrays without a listed task, since when
  Clock::time_point asked_ = Clock::now();
  std::optional<Clock::time_point> silent_since_;  // time of the first unreadable answer in a row
  std::unique_ptr<ProgramCall> ask_, submit_;
  std::string warned_, why_waiting_;
  size_t in_vain_ = 0;  // arrays of which no worker started
};

}  // namespace backplane
