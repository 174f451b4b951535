// The nodes of a Slurm cluster: arrays of workers, jobs of the queue that each run many trials, one after the other, so that a
// short trial costs no turn in the queue.
#pragma once

#include <future>

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
  void Ordered(const WorkOrder&) override {}
  std::vector<Lost> FindLost() override;
  // What Slurm last said of our tasks, once for each answer; asks every few seconds, in a thread, as an answer of a controller
  // that is busy or down takes longer than the workers may wait for a sign of life.
  std::optional<SlurmTasks> Hear();
  std::vector<Lost> LostWorkers(const SlurmTasks& tasks);
  void Submit(size_t tasks);
  bool AnyWorker() const { return !NamesIn(at().workers()).empty(); }

  EngineRequest request_;
  size_t at_once_ = 1;              // trials
  size_t tasks_ = 1, slots_ = 1;    // jobs of an array, trials at once in each
  std::vector<std::string> jobs_;   // arrays, by Slurm's numbers
  std::set<std::string> suspects_;  // workers that Slurm did not know when it was asked last
  std::chrono::steady_clock::time_point asked_, submitted_;
  std::future<std::optional<SlurmTasks>> answer_;
  size_t in_vain_ = 0;  // arrays of which no worker came
};

}  // namespace backplane
