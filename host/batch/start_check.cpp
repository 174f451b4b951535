#include "batch/start_check.hpp"

#include <numeric>
#include <utility>

#include "log/log.hpp"

namespace backplane {

void StartCheck::Ask(std::vector<size_t> trials, bool searches) {
  asked_ = true;
  const BatchRequest& request = state_.request;
  const Plan& plan = searches ? state_.plan.Checked() : state_.plan;
  if (searches) {
    trials.resize(plan.trials.size());
    std::iota(trials.begin(), trials.end(), size_t{0});
  }
  const auto& here = request.check_here;
  CheckedOptions checked = CheckOptions(plan, here ? CheckableHere(plan, trials) : trials, state_.Place(),
                                        here ? here->engine : engine_, here ? here->resource_pool : resource_pool_);
  for (const std::string& note : checked.notes) LogInfo("note: {}", note);
  for (const std::string& warning : checked.warnings) LogWarning("warning: {}", warning);
  unsaved_ = std::move(checked.unsaved);
  for (const std::string& learner : unsaved_)
    LogInfo("note: {} saves no state, so a stopped trial starts from scratch", learner);
  for (const FailedCheck& check : checked.failed) state_.display.Detail("rejected before the start: " + check.error);
  BatchReport& report = state_.report;
  report.checks = std::move(checked.failed);
  if (checked.recorded && request.check_names) {
    for (FailedCheck& misnamed : request.check_names(plan, *checked.recorded)) report.checks.push_back(std::move(misnamed));
  }
  if (searches && request.direction) direction_ = request.direction(plan, checked.recorded.value_or(RecordedMeasures()));
  report.while_checking = checked.interrupted;
}

// Leaves out trials that need more than this machine has. They are checked on a node when they start.
std::vector<size_t> StartCheck::CheckableHere(const Plan& plan, std::vector<size_t> trials) const {
  std::erase_if(trials, [&](size_t trial) {
    try {
      state_.request.check_here->resource_pool->Require(plan.Load(plan.trials[trial]).experiment.resources);
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  });
  return trials;
}

ChangedStates StartCheck::LeaveRefused() {
  ChangedStates skipped;
  for (const FailedCheck& check : state_.report.checks) {
    for (const size_t trial : check.trials) {
      if (FitsNever(check)) skipped.push_back({trial, {TrialState::kSkipped, "rejected before the start: " + check.error, {}}});
      state_.schedule.Leave(trial);
    }
  }
  return skipped;
}

}  // namespace backplane
