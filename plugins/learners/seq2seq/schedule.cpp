#include "schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace backplane::seq2seq {

uint64_t WarmupUpdates(double steps, uint64_t total) {
  return static_cast<uint64_t>(std::ceil(steps < 1 ? steps * static_cast<double>(total) : steps));
}

double LrFactor(Schedule schedule, uint64_t done, uint64_t warmup, uint64_t total, double progress) {
  if (schedule == Schedule::kConstant) return 1;
  if (done < warmup) return static_cast<double>(done) / static_cast<double>(warmup);
  if (schedule == Schedule::kConstantWithWarmup) return 1;
  if (total > 0) progress = total > warmup ? static_cast<double>(done - warmup) / static_cast<double>(total - warmup) : 1;
  progress = std::min(progress, 1.0);
  return schedule == Schedule::kLinear ? 1 - progress : .5 * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace backplane::seq2seq
