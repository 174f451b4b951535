// Summaries of scores that are robust to single outliers: Agarwal et al., "Deep reinforcement learning at the edge of the
// statistical precipice", 2021 (rliable). Higher scores are better; all tasks must share one scale.
#pragma once

#include <vector>

namespace backplane::statistics {

// Scores by seed, per task.
using Tasks = std::vector<std::vector<double>>;

// The mean after dropping a quarter of the scores (rounded down) at each end. Requires at least one score.
double InterquartileMean(std::vector<double> scores);
// Over the scores of all tasks together.
double InterquartileMean(const Tasks& tasks);

// The probability that a score of `a` exceeds one of `b`, ties counting half, averaged over tasks. Both need the same tasks.
double ProbabilityOfImprovement(const Tasks& a, const Tasks& b);

// The share of all scores above each threshold.
std::vector<double> PerformanceProfile(const Tasks& tasks, const std::vector<double>& thresholds);

// The mean shortfall of scores below a reference; a score above it counts as 0.
double OptimalityGap(const Tasks& tasks, double reference);

}  // namespace backplane::statistics
