#include "supervise/schedule.hpp"

#include <algorithm>

namespace backplane {

Schedule::Schedule(const Plan& plan)
    : plan_(plan),
      frontier_(plan),
      states_(plan.trials.size(), "PLANNED"),
      not_before_(plan.trials.size(), 0),
      trials_of_(plan.points.size()) {
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    trials_of_[plan.trials[i].point].push_back(i);
    ready_.insert(ready_.end(), i);
  }
}

void Schedule::Set(size_t trial, const std::string& state) {
  states_[trial] = state;
  if (state == "PLANNED") {
    ready_.insert(trial);
  } else {
    ready_.erase(trial);
  }
}

void Schedule::Delay(size_t trial, double time_s) { not_before_[trial] = time_s; }

std::optional<size_t> Schedule::Next(double now_s) const {
  for (const size_t trial : ready_) {
    if (not_before_[trial] <= now_s && !SmallerFirst(trial)) return trial;
  }
  return std::nullopt;
}

// True while a smaller trial of the same chain may still show that this one does not fit.
bool Schedule::SmallerFirst(size_t trial) const {
  const size_t point = plan_.trials[trial].point;
  const auto unsettled = [this](size_t other) { return ready_.contains(other) || states_[other] == "RUNNING"; };
  for (const size_t below : frontier_.Below(point)) {
    if (std::any_of(trials_of_[below].begin(), trials_of_[below].end(), unsettled)) return true;
  }
  return false;
}

std::vector<size_t> Schedule::NeedAsMuchAs(size_t trial) const {
  std::vector<size_t> found;
  const size_t point = plan_.trials[trial].point;
  if (plan_.memory_axes.empty()) return found;
  std::vector<size_t> points = frontier_.Above(point);
  points.push_back(point);
  for (const size_t above : points) {
    for (const size_t other : trials_of_[above]) {
      if (other != trial && states_[other] == "PLANNED") found.push_back(other);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace backplane
