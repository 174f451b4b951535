#include "rollout/candidate_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace backplane {

void CandidateScores::Start(uint64_t candidates, uint64_t episodes_each) {
  candidates_ = candidates;
  episodes_each_ = episodes_each;
  jobs_ = candidates * episodes_each;
  fitness_.resize(jobs_);
  lengths_.resize(jobs_);
  own_lengths_.resize(jobs_);
  job_infos_.resize(jobs_ * infos_);
  if (observed_ == 0) return;
  constexpr uint64_t kLine = 64 / sizeof(double);
  moments_stride_ = (1 + 2 * observed_ + kLine - 1) / kLine * kLine;
  if (moments_room_ < jobs_) {
    moments_ = AllocateAligned(jobs_ * moments_stride_ * sizeof(double), false);
    moments_room_ = jobs_;
  }
}

void CandidateScores::Begin(uint64_t job) {
  if (observed_ > 0) std::memset(MomentsOf(job), 0, moments_stride_ * sizeof(double));
}

void CandidateScores::End(uint64_t job, double fitness, int64_t length, int64_t own_length) {
  fitness_[job] = fitness;
  lengths_[job] = length;
  own_lengths_[job] = own_length;
}

JobScore CandidateScores::Of(uint64_t job) const {
  JobScore score{fitness_[job], lengths_[job], {}, {}, own_lengths_[job]};
  score.infos.assign(job_infos_.data() + job * infos_, job_infos_.data() + (job + 1) * infos_);
  if (observed_ > 0) score.moments.assign(MomentsOf(job), MomentsOf(job) + moments());
  return score;
}

bool CandidateScores::Set(uint64_t job, const JobScore& score) {
  if (score.infos.size() != infos_ || score.moments.size() != moments()) return false;
  End(job, score.fitness, score.length, score.own_length);
  std::copy(score.infos.begin(), score.infos.end(), infos(job));
  if (observed_ > 0) std::copy(score.moments.begin(), score.moments.end(), MomentsOf(job));
  return true;
}

void CandidateScores::Finish() {
  episodes_.resize(jobs_);
  env_steps_ = own_steps_ = 0;
  for (uint64_t job = 0; job < jobs_; ++job) {
    episodes_[job] = {0, job / episodes_each_, fitness_[job], lengths_[job], infos(job)};
    env_steps_ += static_cast<uint64_t>(lengths_[job]);
    own_steps_ += static_cast<uint64_t>(own_lengths_[job]);
    if (fitness_info_) fitness_[job] = infos(job)[*fitness_info_];
  }
  if (observed_ == 0) return;
  all_moments_.Reset(observed_);
  for (uint64_t job = 0; job < jobs_; ++job) {
    const double* const of = MomentsOf(job);
    all_moments_.Merge(of[0], of + 1, of + 1 + observed_);
  }
}

bp_delivery CandidateScores::Delivery() {
  constexpr bp_dtype kF64{BP_DTYPE_FLOAT, 64, 1}, kI64{BP_DTYPE_INT, 64, 1};
  const auto rows = static_cast<int64_t>(candidates_), columns = static_cast<int64_t>(episodes_each_);
  fitness_tensor_.Set(fitness_.data(), kF64, {rows, columns}, columns);
  length_tensor_.Set(lengths_.data(), kI64, {rows, columns}, columns);
  given_.Clear();
  given_.Give("fitness", &fitness_tensor_.view);
  given_.Give("ep_length", &length_tensor_.view);
  if (observed_ > 0) given_.GiveMoments(all_moments_);
  return given_.Make(BP_REQ_EVALUATE);
}

std::optional<std::pair<uint64_t, uint64_t>> CandidateScores::FirstNonFinite() const {
  if (observed_ == 0) return std::nullopt;
  for (uint64_t job = 0; job < jobs_; ++job)
    for (uint64_t i = 0; i < observed_; ++i)
      if (!std::isfinite(MomentsOf(job)[1 + i])) return std::pair(job, i);
  return std::nullopt;
}

}  // namespace backplane
