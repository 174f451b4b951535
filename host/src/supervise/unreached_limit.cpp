#include "supervise/unreached_limit.hpp"

#include <fmt/format.h>

#include "base/format_count.hpp"

namespace backplane {

std::string UnreachedLimit(const BudgetConfig& budget, const std::map<std::string, std::string>& origin,
                           uint64_t steps_of_iteration) {
  if (!budget.iterations || !budget.env_steps || steps_of_iteration == 0) return "";
  // The iteration in which the steps are done is the last one.
  const uint64_t enough = (*budget.env_steps - 1) / steps_of_iteration + 1;
  if (enough == *budget.iterations) return "";
  const bool steps = enough > *budget.iterations;
  const char* const path = steps ? "budget.env_steps" : "budget.iterations";
  const auto place = origin.find(path);
  const std::string at = place == origin.end() || place->second.empty() ? "" : place->second + " ";
  if (steps) {
    return fmt::format("{}{}: {} are never reached: budget.iterations ends the trial after {} of {} steps", at, path,
                       FormatCount(*budget.env_steps), FormatCount(*budget.iterations), FormatCount(steps_of_iteration));
  }
  return fmt::format("{}{}: {} are never reached: budget.env_steps ends the trial in iteration {}, each has {} steps", at, path,
                     FormatCount(*budget.iterations), FormatCount(enough), FormatCount(steps_of_iteration));
}

}  // namespace backplane
