// Collects the results of jobs in an evaluation of candidates and delivers them to the learner. A job is one episode of one
// candidate. Sums follow the order of the jobs, so they do not depend on the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/delivery.hpp"
#include "rollout/moments.hpp"
#include "rollout/rows.hpp"

namespace backplane {

// The result of one job, for another process.
struct JobScore {
  double fitness = 0;
  int64_t length = 0;
  std::vector<double> infos;    // [infos]
  std::vector<double> moments;  // count, mean, m2; empty: not kept
  int64_t own_length = 0;       // steps of the env below wrappers
};

class CandidateScores {
 public:
  // `infos`: infos per episode of the env. `observed`: numbers per observation, for the moments; 0: no moments. `fitness_info`:
  // the info that replaces the return as fitness for the learner; absent: none.
  CandidateScores(size_t infos, uint64_t observed, std::optional<size_t> fitness_info = std::nullopt)
      : infos_(infos), observed_(observed), fitness_info_(fitness_info) {}

  // Allocates memory for all jobs. [control]
  void Start(uint64_t candidates, uint64_t episodes_each);

  // Called by the thread that plays the job. [rows]
  void Begin(uint64_t job);
  template <class T>
  void Observe(uint64_t job, const T* x) {  // [observed]
    double* const of = MomentsOf(job);
    AddToMoments(x, observed_, of, of + 1, of + 1 + observed_);
  }
  void End(uint64_t job, double fitness, int64_t length, int64_t own_length);
  double* infos(uint64_t job) { return job_infos_.data() + job * infos_; }  // [infos], written at its end

  // The result of an ended job; called by the thread that played it. [rows]
  JobScore Of(uint64_t job) const;
  // Sets the result of a job of another process. False: the number of infos or moments is wrong.
  bool Set(uint64_t job, const JobScore& score);
  size_t infos() const { return infos_; }
  size_t moments() const { return observed_ > 0 ? 1 + 2 * observed_ : 0; }  // numbers per job

  // Call after all jobs have ended. [control]
  void Finish();
  // The results of the last finished jobs; valid until the next Start.
  bp_delivery Delivery();
  const std::vector<Episode>& episodes() const { return episodes_; }  // by job; Episode::row is the candidate
  uint64_t env_steps() const { return env_steps_; }
  uint64_t own_steps() const { return own_steps_; }
  // The first job with a non-finite observation, and the index of the non-finite number in it.
  std::optional<std::pair<uint64_t, uint64_t>> FirstNonFinite() const;

 private:
  double* MomentsOf(uint64_t job) const { return reinterpret_cast<double*>(moments_.get()) + job * moments_stride_; }

  const size_t infos_;
  const uint64_t observed_;
  const std::optional<size_t> fitness_info_;
  uint64_t candidates_ = 0, episodes_each_ = 1, jobs_ = 0;

  // By job.
  std::vector<double> fitness_, job_infos_;
  std::vector<int64_t> lengths_, own_lengths_;
  AlignedBytes moments_;  // each job's count, mean and m2, on separate cache lines
  uint64_t moments_stride_ = 0, moments_room_ = 0;

  Moments all_moments_;
  std::vector<Episode> episodes_;
  uint64_t env_steps_ = 0, own_steps_ = 0;
  Tensor fitness_tensor_, length_tensor_;
  DeliveryTensors given_;
};

}  // namespace backplane
