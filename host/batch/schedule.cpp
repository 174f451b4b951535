#include "batch/schedule.hpp"

#include <algorithm>

namespace backplane {

Schedule::Schedule(const Plan& plan)
    : plan_(plan),
      frontier_(plan),
      states_(plan.trials.size(), TrialState::kPlanned),
      not_before_(plan.trials.size(), 0),
      trials_of_(plan.points.size()) {
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    trials_of_[plan.trials[i].point].push_back(i);
    ready_.insert(ready_.end(), i);
    if (!plan.trials[i].after) continue;
    next_.resize(plan.trials.size());
    next_[*plan.trials[i].after].push_back(i);
  }
}

void Schedule::Grow() {
  frontier_ = MemoryFrontier(plan_);
  trials_of_.resize(plan_.points.size());
  for (size_t i = states_.size(); i < plan_.trials.size(); ++i) {
    trials_of_[plan_.trials[i].point].push_back(i);
    ready_.insert(i);
  }
  states_.resize(plan_.trials.size(), TrialState::kPlanned);
  not_before_.resize(plan_.trials.size(), 0);
}

void Schedule::Set(size_t trial, TrialState state) {
  states_[trial] = state;
  if (state == TrialState::kPlanned) {
    ready_.insert(trial);
  } else {
    ready_.erase(trial);
  }
}

void Schedule::Leave(size_t trial) {
  ready_.erase(trial);
  if (next_.empty()) return;
  for (const size_t next : next_[trial]) Leave(next);
}

void Schedule::Delay(size_t trial, double time_s) { not_before_[trial] = time_s; }

std::optional<size_t> Schedule::Next(double now_s) const {
  for (const size_t trial : ready_) {
    const std::optional<size_t>& after = plan_.trials[trial].after;
    if (after && states_[*after] != TrialState::kCompleted) continue;
    if (not_before_[trial] <= now_s && !SmallerFirst(trial)) return trial;
  }
  return std::nullopt;
}

// True while a smaller trial of the same chain may still show that this one does not fit.
bool Schedule::SmallerFirst(size_t trial) const {
  const size_t point = plan_.trials[trial].point;
  const auto unsettled = [this](size_t other) { return ready_.contains(other) || states_[other] == TrialState::kRunning; };
  for (const size_t below : frontier_.Below(point)) {
    if (std::any_of(trials_of_[below].begin(), trials_of_[below].end(), unsettled)) return true;
  }
  return false;
}

bool Schedule::LostItsStart(size_t trial) const {
  const std::optional<size_t>& after = plan_.trials[trial].after;
  if (!after) return false;
  const TrialState state = states_[*after];
  return state == TrialState::kFailed || state == TrialState::kInfeasible || state == TrialState::kSkipped ||
         state == TrialState::kPruned;
}

std::vector<size_t> Schedule::NeverCan() const {
  std::vector<size_t> found;
  std::vector<bool> lost(next_.size(), false);
  for (size_t i = 0; i < next_.size(); ++i) {
    const std::optional<size_t>& after = plan_.trials[i].after;
    if (states_[i] != TrialState::kPlanned || !after) continue;
    lost[i] = lost[*after] || LostItsStart(i);
    if (lost[i]) found.push_back(i);
  }
  return found;
}

std::vector<size_t> Schedule::NeedAsMuchAs(size_t trial) const {
  std::vector<size_t> found;
  const size_t point = plan_.trials[trial].point;
  if (plan_.memory_axes.empty()) return found;
  std::vector<size_t> points = frontier_.Above(point);
  points.push_back(point);
  for (const size_t above : points) {
    for (const size_t other : trials_of_[above]) {
      if (other != trial && states_[other] == TrialState::kPlanned) found.push_back(other);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::map<size_t, size_t> Schedule::OutOfMemoryToo() const {
  std::map<size_t, size_t> found;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != TrialState::kInfeasible) continue;
    for (const size_t other : NeedAsMuchAs(i)) found.emplace(other, i);
  }
  return found;
}

}  // namespace backplane
