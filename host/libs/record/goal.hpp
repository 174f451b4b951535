// A value of a metric that a trial is to reach: `budget.until`, and the measures steps_to(METRIC, VALUE), the env steps until
// then, and reached(METRIC, VALUE), 1 or 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "record/fields.hpp"

namespace backplane {

struct Goal {
  std::string metric;     // "eval/return"
  double value = 0;       // finite
  uint64_t in_a_row = 1;  // evaluations that have to reach it
  int direction = 1;      // 1: this value and higher ones reach it, -1: this value and lower ones
  bool operator==(const Goal&) const = default;

  bool IsReachedBy(double one) const { return direction > 0 ? one >= value : one <= value; }
  std::string Words() const;           // "eval/return 475"
  std::string StepsMeasure() const;    // "steps_to(eval/return, 475)"
  std::string ReachedMeasure() const;  // "reached(eval/return, 475)"

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("metric", self.metric);
    visit("value", self.value);
    visit("for", self.in_a_row);
    visit("direction", self.direction);
  }
};

inline constexpr char kUntil[] = "budget.until", kUntilExample[] = "budget: {until: {eval/return: 475, for: 3}}";
inline constexpr char kStepsTo[] = "steps_to", kReached[] = "reached";

// The form in a file: {eval/return: 475, for: 3, direction: maximize}. Absent, with the expected and the found value in
// `why_not`, if it does not fit. Without a direction, higher is better, except for the loss of held-out items.
std::optional<Goal> GoalFromJson(const nlohmann::json& written, std::string* why_not);
nlohmann::json JsonOfGoal(const Goal& goal);

// The goal in the name of either measure; absent for any other name. Only a trial's own goal counts evaluations in a row.
std::optional<Goal> GoalOfMeasure(std::string_view name);
// budget.until of a configuration in JSON; absent: there is none.
std::optional<Goal> GoalOfConfig(const nlohmann::json& config);

// A sentence if `metric` cannot compare trials that end at `until`: their last values are biased, and a higher goal is unknown.
// Empty: it counts the steps to the same goal, or to one that is reached before.
std::string WhyNotComparable(const Goal& until, const std::string& metric);

// Counts evaluations in a row that reach a goal.
class GoalCount {
 public:
  explicit GoalCount(Goal goal) : goal_(std::move(goal)) {}

  // Adds the next evaluation; NaN does not reach the goal. Returns true once enough have reached it, and ever after.
  bool Add(double value);
  bool reached() const { return in_a_row_ >= goal_.in_a_row; }
  const Goal& goal() const { return goal_; }

 private:
  Goal goal_;
  uint64_t in_a_row_ = 0;
};

// The goal of a trial in result.json.
struct GoalResult : Goal {
  bool reached = false;
  uint64_t iteration = 0, env_steps = 0;  // at which it was reached, else of the whole trial

  // "reached eval/return 475 after 41,000 env steps (3 evaluations in a row)"
  std::string Sentence() const;

  static constexpr void Fields(auto& self, auto&& visit) {
    Goal::Fields(self, visit);
    visit("reached", self.reached);
    visit("iteration", self.iteration);
    visit("env_steps", self.env_steps);
  }
};

}  // namespace backplane
