// Summaries of scores that one lucky or unlucky run does not move: Agarwal et al., "Deep reinforcement learning at the edge of
// the statistical precipice", 2021 (rliable). Scores are higher for better; those of several tasks must be on one scale.
#pragma once

#include <vector>

namespace backplane::statistics {

// A list of scores, one of each seed, for each task.
using Tasks = std::vector<std::vector<double>>;

// The mean of what remains when a quarter of the scores (rounded down) is dropped at each end. Of at least one score.
double InterquartileMean(std::vector<double> scores);
// Of the scores of all tasks together.
double InterquartileMean(const Tasks& tasks);

// How often a score of `a` is above one of `b`, ties counting half, for each task; the mean over tasks. Both have the same
// tasks.
double ProbabilityOfImprovement(const Tasks& a, const Tasks& b);

// The share of all scores above each threshold.
std::vector<double> PerformanceProfile(const Tasks& tasks, const std::vector<double>& thresholds);

// By how much scores fall short of a reference on the average; a score above it falls short by 0.
double OptimalityGap(const Tasks& tasks, double reference);

}  // namespace backplane::statistics
