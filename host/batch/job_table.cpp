#include "batch/job_table.hpp"

namespace backplane {

void JobTable::Start(size_t trial, std::unique_ptr<Attempt> attempt, const Allocation& allocation) {
  JobId id = 0;
  try {
    id = engine_.Start(attempt->Command());
  } catch (...) {
    resource_pool_.Give(allocation);
    throw;
  }
  const double now_s = clock_.Look();
  jobs_[id] = {trial, std::move(attempt), allocation, now_s, now_s};
}

std::vector<JobTable::Ended> JobTable::Wait(int timeout_ms) {
  std::vector<Ended> ended;
  for (JobEnd& end : engine_.Wait(timeout_ms)) {
    auto node = jobs_.extract(end.job);
    Job& job = node.mapped();
    resource_pool_.Give(job.allocation);
    if (job.begun) end.queued_s = job.started_s - job.submitted_s;
    Attempt::Ended how = job.attempt->Finish(end);
    JobEnd own = end;
    own.wall_s -= job.attempt->suspended_s();
    ended.push_back({std::move(job), own, std::move(how)});
  }
  const double now_s = clock_.Look();
  for (auto& [id, job] : jobs_) {
    const bool begins = !job.begun && engine_.HasBegun(id);
    if (!job.begun) job.started_s = now_s;
    job.begun |= begins;
    if (!job.begun) continue;
    if (engine_.IsElsewhere()) LookForMoves(id, begins, &job);
    const double elapsed_s = now_s - job.started_s;
    if (const auto how = job.attempt->Look(engine_.Status(id), elapsed_s)) engine_.Stop(id, *how);
  }
  return ended;
}

void JobTable::LookForMoves(JobId id, bool begins, Job* job) {
  const std::string silence = engine_.Silence(id);
  const bool changes = silence.empty() != job->silence.empty();
  job->silence = silence;
  if (!begins && !changes) return;
  const TrialState state = silence.empty() ? TrialState::kRunning : TrialState::kLost;
  moves_.push_back({job->trial, job->attempt->number(), {state, silence}});
}

void JobTable::StopAll(StopHow how) {
  for (auto& [id, job] : jobs_) {
    job.attempt->Interrupted();
    engine_.Stop(id, how);
  }
}

}  // namespace backplane
