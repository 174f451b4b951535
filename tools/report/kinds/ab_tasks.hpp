// Comparisons over several tasks: the verdict of each task, and the verdict of all on one scale, 0 at the worst reference of a
// task and 1 at its best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "kinds/ab_scores.hpp"
#include "record/compare_terms.hpp"
#include "statistics/robust.hpp"
#include "text/table.hpp"

namespace backplane {

// The only one of an experiment without tasks: its name is empty.
struct JudgedTask {
  CompareTask task;
  std::vector<ComparedPoint> points;  // its arms, by their names
  AbScores scores;
  ArmsJudgement judgement;
};

// Groups the points by task, in the order of the terms. All tasks list their arms in the same order. Throws std::runtime_error
// if a task has no reference or its arms differ from the first task's.
struct PointsOfTask {
  CompareTask task;
  std::vector<ComparedPoint> points;
};
std::vector<PointsOfTask> TasksOf(const Combined& combined, const std::vector<ComparedPoint>& points,
                                  const CompareTerms& terms);

// Over tasks, of the scores of all looks that were taken.
struct OverTasks {
  struct Arm {
    std::string name;
    statistics::Tasks scores;  // on the common scale
    double iqm = 0, gap = 0;   // interquartile mean; optimality gap, mean shortfall below 1
    std::optional<statistics::Interval> iqm_interval;
  };
  struct Pair {
    size_t first = 0, second = 1;
    double improvement = 0.5;  // that a score of the second arm is the better one, mean over tasks
    std::optional<statistics::Interval> interval;
  };
  std::vector<Arm> arms;
  std::vector<Pair> pairs;
};
OverTasks Together(const std::vector<JudgedTask>& tasks);

// The exact 95 % interval (Clopper and Pearson) of an improvement of 1 or 0 in `pairs` independent pairs of scores. There a
// bootstrap has no width.
statistics::Interval CompleteImprovement(double improvement, size_t pairs);

// As VerdictOfArms and StandingOfArms. The first sentence names the winner over all tasks, if there is one.
std::vector<std::string> VerdictOfTasks(const std::vector<JudgedTask>& tasks);
std::string StandingOfTasks(const std::vector<JudgedTask>& tasks);

// "normalised": a row for each arm; "probability_of_improvement": one for each pair.
std::vector<Table> TablesOfTasks(const OverTasks& together);

// Draws each arm's share of scores above a threshold, with bands.
Figure ProfileFigure(const OverTasks& together);

}  // namespace backplane
