#include "trial/budget.hpp"

#include <algorithm>
#include <limits>

#include "rollout/phase_clock.hpp"

namespace backplane {

double Progress(const BudgetConfig& budget, const Spent& spent) {
  double progress = 0;
  const auto share = [&](double used, double limit) { progress = std::max(progress, limit > 0 ? used / limit : 1.0); };
  if (budget.iterations) share(static_cast<double>(spent.iterations), static_cast<double>(*budget.iterations));
  if (budget.env_steps) share(static_cast<double>(spent.env_steps), static_cast<double>(*budget.env_steps));
  if (budget.episodes) share(static_cast<double>(spent.episodes), static_cast<double>(*budget.episodes));
  if (budget.epochs) share(spent.epochs, static_cast<double>(*budget.epochs));
  if (budget.wall_time_s) share(spent.seconds, *budget.wall_time_s);
  return std::min(progress, 1.0);
}

bool Reached(const BudgetConfig& budget, const Spent& spent) {
  return (budget.iterations && spent.iterations >= *budget.iterations) ||
         (budget.env_steps && spent.env_steps >= *budget.env_steps) ||
         (budget.episodes && spent.episodes >= *budget.episodes) ||
         (budget.epochs && spent.epochs >= static_cast<double>(*budget.epochs)) ||
         (budget.wall_time_s && spent.seconds >= *budget.wall_time_s);
}

double PatienceAfter(double wall_time_s) {
  constexpr double kShare = 0.1;
  return std::max(kStopPatience_s, wall_time_s * kShare);
}

int64_t DeadlineOf(const BudgetConfig& budget, const Spent& spent, Deadline which) {
  if (!budget.wall_time_s) return std::numeric_limits<int64_t>::max();
  const double left = *budget.wall_time_s - spent.seconds, patience = PatienceAfter(*budget.wall_time_s);
  const double seconds = which == Deadline::kPatienceAtLeast ? std::max(left, patience) : std::max(left, 0.0) + patience;
  constexpr double kMost_s = 1e9;  // fits into 64 bits as nanoseconds
  return NowNs() + static_cast<int64_t>(std::min(seconds, kMost_s) * 1e9);
}

bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows) {
  bp_limits limits{};
  limits.struct_size = sizeof limits;
  limits.rows = rows;
  limits.chunk_max = chunk_rows;
  limits.micro_batch_max = std::numeric_limits<uint64_t>::max();
  limits.env_steps_left = std::numeric_limits<uint64_t>::max();
  if (budget.env_steps) limits.env_steps_left = *budget.env_steps - std::min(*budget.env_steps, spent.env_steps);
  limits.deadline_ns = std::numeric_limits<int64_t>::max();
  if (budget.wall_time_s)
    limits.deadline_ns = ReadClock(CLOCK_MONOTONIC) + static_cast<int64_t>((*budget.wall_time_s - spent.seconds) * 1e9);
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  limits.iterations = budget.iterations.value_or(kNone);
  limits.epochs = budget.epochs.value_or(kNone);
  limits.progress = Progress(budget, spent);
  limits.iterations_done = spent.iterations;
  return limits;
}

void FollowSchedule(const BudgetConfig& schedule, const Spent& spent, bp_limits* limits) {
  const bp_limits read = Limits(schedule, spent, limits->rows, limits->chunk_max);
  limits->progress = read.progress;
  limits->iterations = read.iterations;
  limits->epochs = read.epochs;
}

}  // namespace backplane
