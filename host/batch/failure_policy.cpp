#include "batch/failure_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace backplane {
namespace {

constexpr unsigned kMostLost = 3;  // lost nodes per trial in a session
constexpr double kFirstRetry_s = 1, kLongestRetry_s = 60;

// NULL: on_failure has no rule for it, so it is a failure.
const FailureRule* RuleFor(const OnFailure& rules, const AttemptVerdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kOom: return verdict.on_device ? &rules.device_oom : &rules.host_oom;
    case Outcome::kSignal: return &rules.signal;
    case Outcome::kTemp: return &rules.temp;
    case Outcome::kTimeout: return &rules.timeout;
    case Outcome::kNan: return &rules.nan;
    case Outcome::kConfig: return &rules.config;
    case Outcome::kPlugin: return &rules.plugin;
    default: return nullptr;
  }
}

}  // namespace

FailureDecision FailurePolicy::After(const std::string& trial_id, const AttemptVerdict& verdict) {
  if (IsFinished(verdict.state)) return {verdict.state, std::nullopt};
  // Its node was lost. It runs again elsewhere, unless the trial itself seems to crash nodes.
  if (verdict.outcome == Outcome::kStale && tries_[{trial_id, verdict.outcome}]++ < kMostLost)
    return {TrialState::kPlanned, 0.0};
  if (verdict.outcome == Outcome::kKilled || verdict.outcome == Outcome::kStale) return {TrialState::kPlanned, std::nullopt};
  const FailureRule* rule = RuleFor(rules_, verdict);
  if (rule == nullptr) return {TrialState::kFailed, std::nullopt};
  if (rule->action == FailureAction::kRetry) {
    const unsigned tries = tries_[{trial_id, verdict.outcome}]++;
    if (tries >= rule->retries) return {TrialState::kFailed, std::nullopt};
    // Waits only for causes that may pass on their own.
    const double wait = verdict.outcome == Outcome::kTemp ? std::min(kFirstRetry_s * std::pow(2, tries), kLongestRetry_s) : 0;
    return {TrialState::kPlanned, wait};
  }
  // A learner shrinks its micro-batch within its trial; if memory still ran out, it does not fit.
  const bool fits_not = rule->action == FailureAction::kInfeasible || rule->action == FailureAction::kShrink;
  return {fits_not ? TrialState::kInfeasible : TrialState::kFailed, std::nullopt};
}

bool FailurePolicy::MayPassByNow(const TrialRecord& trial) const {
  return trial.state == TrialState::kFailed && trial.outcome == Outcome::kTemp && rules_.temp.action == FailureAction::kRetry;
}

std::optional<std::string> StopRules::Ended(TrialState state, Outcome outcome, double now_s) {
  if (state != TrialState::kFailed) {
    any_usable_ = any_usable_ || IsFinished(state);
    return std::nullopt;
  }
  ++failed_;
  const double fraction = static_cast<double>(failed_) / static_cast<double>(std::max<size_t>(trials_, 1));
  if (fraction > rules_.max_failed_fraction) {
    return fmt::format("{} of {} trials failed, more than stop_sweep.max_failed_fraction {:g}", failed_, trials_,
                       rules_.max_failed_fraction);
  }
  if (outcome == Outcome::kNan) return std::nullopt;
  ++initial_failures_;
  recent_.push_back(now_s);
  while (now_s - recent_.front() > rules_.flapping.window_s) recent_.pop_front();
  if (rules_.flapping.failures > 0 && recent_.size() >= rules_.flapping.failures) {
    return fmt::format("{} trials failed within {:g} s (stop_sweep.flapping)", recent_.size(), rules_.flapping.window_s);
  }
  if (rules_.initial_failures > 0 && !any_usable_ && initial_failures_ >= rules_.initial_failures) {
    return fmt::format("the first {} trials failed (stop_sweep.initial_failures)", initial_failures_);
  }
  return std::nullopt;
}

}  // namespace backplane
