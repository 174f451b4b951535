#include "batch/name_watch.hpp"

#include "search/objective.hpp"

namespace backplane {

void NameWatch::Look(const JobTable& jobs) {
  if (looked_) return;
  jobs.ForEach([&](const JobTable::Job& job) {
    const std::optional<StatusFile>& status = job.attempt->last();
    if (!looked_ && status && status->iteration > 0) looked_ = Warn(job, /*has_ended=*/false);
  });
}

void NameWatch::Ended(const JobTable::Job& job) {
  if (!ended_) ended_ = looked_ = Warn(job, /*has_ended=*/true);
}

bool NameWatch::Warn(const JobTable::Job& job, bool has_ended) {
  const BatchRequest& request = state_.request;
  if (!request.unrecorded || !state_.plan.ExperimentOf(state_.plan.trials[job.trial].point).HasCommand()) return true;
  RecordedMeasures recorded;
  for (const std::string& name : RecordedMetrics(AttemptFolder(job.attempt->folder()))) recorded.emplace(name, 0);
  if (!recorded.contains("t")) return false;  // each report has its time
  for (const UnrecordedName& one : request.unrecorded(state_.plan, recorded, has_ended))
    if (names_.insert(one.name).second) state_.display.Note("warning: " + one.sentence);
  return true;
}

}  // namespace backplane
