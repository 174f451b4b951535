// The running jobs: the trial, allocation and end of each.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/awake_clock.hpp"
#include "batch/attempt.hpp"
#include "batch/engine.hpp"
#include "batch/resource_pool.hpp"

namespace backplane {

class JobTable {
 public:
  struct Job {
    size_t trial = 0;  // place in the plan
    std::unique_ptr<Attempt> attempt;
    Allocation allocation;
    double submitted_s = 0, started_s = 0;  // by clock_
    bool begun = false;
    std::string silence = {};  // Engine::Silence
  };
  // A job on a cluster that begins, or whose node falls silent or is back.
  struct Move {
    size_t trial = 0;
    unsigned attempt = 0;
    AttemptMove to;
  };
  struct Ended {
    Job job;
    JobEnd end;
    Attempt::Ended how;
  };

  JobTable(Engine* engine, ResourcePool* resource_pool) : engine_(*engine), resource_pool_(*resource_pool) {}

  // Throws std::runtime_error if the trial cannot start; the allocation is returned then.
  void Start(size_t trial, std::unique_ptr<Attempt> attempt, const Allocation& allocation);
  // Returns ended jobs after it released their allocations. Waits up to `timeout_ms`, then checks the others for hangs and wall
  // time.
  std::vector<Ended> Wait(int timeout_ms);
  // Since the last call.
  std::vector<Move> TakeMoves() { return std::exchange(moves_, {}); }
  // Stops all jobs, with a checkpoint or immediately.
  void StopAll(StopHow how);

  template <typename Holds>
  bool All(Holds holds) const {
    return std::all_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return holds(entry.second); });
  }
  template <typename Use>
  void ForEach(Use use) const {
    for (const auto& [id, job] : jobs_) use(job);
  }
  bool empty() const { return jobs_.empty(); }
  const Job* Only() const { return jobs_.size() == 1 ? &jobs_.begin()->second : nullptr; }  // NULL: none, or several

 private:
  static constexpr double kMostBetweenLooks_s = 5;

  void LookForMoves(JobId id, bool begins, Job* job);

  Engine& engine_;
  ResourcePool& resource_pool_;
  std::map<JobId, Job> jobs_;
  std::vector<Move> moves_;
  AwakeClock clock_{kMostBetweenLooks_s};  // a stop of this process does not count as a trial's silence
};

}  // namespace backplane
