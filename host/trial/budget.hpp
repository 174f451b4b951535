// Ends a trial at the first limit that it reaches.
#pragma once

#include <string>
#include <utility>

#include "backplane/learner.h"
#include "contract/experiment.hpp"

namespace backplane {

struct Spent {
  uint64_t iterations = 0, env_steps = 0;
  double seconds = 0;
  double epochs = 0;
  uint64_t episodes = 0;
};

// Used share of the budget, 0 to 1: the maximum over all given limits.
double Progress(const BudgetConfig& budget, const Spent& spent);
bool Reached(const BudgetConfig& budget, const Spent& spent);
inline constexpr double kStopPatience_s = 10;  // for running work after a stop; a supervisor kills a trial after 30 s
// Seconds that running work may still take after budget.wall_time is over.
double PatienceAfter(double wall_time_s);
// The deadline (NowNs) of work that starts now. kPatienceAtLeast: the end of budget.wall_time, but at least one patience from
// now. kPatienceAfterBudget: one patience after that end. Never if there is no budget.wall_time.
enum class Deadline { kPatienceAtLeast = 1, kPatienceAfterBudget };
int64_t DeadlineOf(const BudgetConfig& budget, const Spent& spent, Deadline which);
// The checkpoints that `checkpoint.every_iterations` and `checkpoint.every_episodes` request.
class CheckpointDue {
 public:
  explicit CheckpointDue(const CheckpointConfig& every = {}, uint64_t episodes = 0) : every_(every), episodes_(episodes) {}

  // Call at the end of each iteration, with the trial's counts. Episodes are due at the first end at or after each multiple.
  bool After(uint64_t iterations, uint64_t episodes) {
    const uint64_t before = std::exchange(episodes_, episodes);
    const bool by_episodes = every_.every_episodes > 0 && episodes / every_.every_episodes > before / every_.every_episodes;
    return by_episodes || (iterations > 0 && every_.every_iterations > 0 && iterations % every_.every_iterations == 0);
  }

 private:
  CheckpointConfig every_;
  uint64_t episodes_;
};

// Without the limits of a data set.
bp_limits Limits(const BudgetConfig& budget, const Spent& spent, uint64_t rows, uint64_t chunk_rows);
// Lets schedules read an earlier, smaller budget. Steps and time left stay as they are.
void FollowSchedule(const BudgetConfig& schedule, const Spent& spent, bp_limits* limits);

}  // namespace backplane
