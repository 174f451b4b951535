#include "supervise/consequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace backplane {
namespace {

constexpr double kFirstRetry_s = 1, kLongestRetry_s = 60;

// NULL: on_failure does not speak of it, so it is a failure.
const FailurePolicy* RuleFor(const OnFailure& rules, const Verdict& verdict) {
  const std::pair<const char*, const FailurePolicy*> classes[] = {
      {"oom", verdict.on_device ? &rules.device_oom : &rules.host_oom},
      {"signal", &rules.signal},
      {"temp", &rules.temp},
      {"timeout", &rules.timeout},
      {"nan", &rules.nan},
      {"config", &rules.config},
      {"plugin", &rules.plugin},
  };
  for (const auto& [outcome, rule] : classes) {
    if (verdict.outcome == outcome) return rule;
  }
  return nullptr;
}

}  // namespace

Consequence Consequences::After(const std::string& trial_id, const Verdict& verdict) {
  if (IsFinishedState(verdict.state)) return {verdict.state, std::nullopt};
  if (verdict.outcome == "killed" || verdict.outcome == "stale") return {"PLANNED", std::nullopt};
  const FailurePolicy* rule = RuleFor(rules_, verdict);
  if (rule == nullptr) return {"FAILED", std::nullopt};
  if (rule->action == FailureAction::kRetry) {
    const unsigned tries = tries_[trial_id + " " + verdict.outcome]++;
    if (tries >= rule->retries) return {"FAILED", std::nullopt};
    // Only what may pass by itself is worth a wait.
    const double wait = verdict.outcome == "temp" ? std::min(kFirstRetry_s * std::pow(2, tries), kLongestRetry_s) : 0;
    return {"PLANNED", wait};
  }
  // A learner that shrinks does so inside its trial; one that still ran out does not fit.
  const bool fits_not = rule->action == FailureAction::kInfeasible || rule->action == FailureAction::kShrink;
  return {fits_not ? "INFEASIBLE" : "FAILED", std::nullopt};
}

bool Consequences::MayPassByNow(const TrialRecord& trial) const {
  return trial.state == "FAILED" && trial.outcome == "temp" && rules_.temp.action == FailureAction::kRetry;
}

std::optional<std::string> StopRules::Ended(const std::string& state, const std::string& outcome, double now_s) {
  if (state != "FAILED") {
    any_usable_ = any_usable_ || IsFinishedState(state);
    return std::nullopt;
  }
  ++failed_;
  const double fraction = static_cast<double>(failed_) / static_cast<double>(std::max<size_t>(trials_, 1));
  if (fraction > rules_.max_failed_fraction) {
    return fmt::format("{} of {} trials failed, more than stop_sweep.max_failed_fraction {:g}", failed_, trials_,
                       rules_.max_failed_fraction);
  }
  if (outcome == "nan") return std::nullopt;
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
