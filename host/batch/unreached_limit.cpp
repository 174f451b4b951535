#include "batch/unreached_limit.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/format_count.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// A limit and the iteration in which it ends the trial, if known.
struct Limit {
  std::string path;
  uint64_t value = 0, first = 1, last = kMost;
};

uint64_t Product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

// The iteration that completes `steps` is the last one.
uint64_t IterationsFor(uint64_t steps, uint64_t steps_of_iteration) { return (steps - 1) / steps_of_iteration + 1; }

Limit OfSteps(uint64_t steps, const IterationSize& size) {
  Limit limit{"budget.env_steps", steps};
  if (size.epoch_steps > 0 && size.least_steps > 0) {  // the last iteration of an epoch may be shorter
    const uint64_t epochs = (steps - 1) / size.epoch_steps, rest = steps - epochs * size.epoch_steps;
    limit.first = limit.last = Product(epochs, size.iterations_of_epoch) + IterationsFor(rest, size.least_steps);
    return limit;
  }
  if (size.most_steps > 0) limit.first = IterationsFor(steps, size.most_steps);
  if (size.least_steps > 0) limit.last = IterationsFor(steps, size.least_steps);
  return limit;
}

std::vector<Limit> LimitsOf(const BudgetConfig& budget, const IterationSize& size) {
  std::vector<Limit> limits;
  if (budget.iterations) limits.push_back({"budget.iterations", *budget.iterations, *budget.iterations, *budget.iterations});
  if (budget.env_steps) limits.push_back(OfSteps(*budget.env_steps, size));
  if (budget.epochs && size.iterations_of_epoch > 0) {
    const uint64_t end = Product(*budget.epochs, size.iterations_of_epoch);
    limits.push_back({"budget.epochs", *budget.epochs, end, end});
  }
  return limits;
}

std::string Why(const Limit& limit, const Limit& ends, const IterationSize& size) {
  const bool by_iterations = ends.path == "budget.iterations";
  const std::string end = by_iterations ? "after " + FormatCount(ends.value) + (ends.value == 1 ? " iteration" : " iterations")
                          : ends.first < ends.last ? "at the latest in iteration " + FormatCount(ends.last)
                                                   : "in iteration " + FormatCount(ends.last);
  if (ends.path == "budget.epochs" || limit.path == "budget.epochs")
    return end + fmt::format("; an epoch has {} iterations", FormatCount(size.iterations_of_epoch));
  const bool is_short = size.least_steps > 0 && size.epoch_steps % size.least_steps > 0;  // the last one of an epoch
  if (by_iterations) {
    const bool exact = size.least_steps == size.most_steps && !is_short;
    return end + fmt::format(" of {}{} steps", exact ? "" : "at most ", FormatCount(size.most_steps));
  }
  const char* const about = is_short ? "at most " : size.least_steps == size.most_steps ? "" : "at least ";
  return end + fmt::format("; an iteration has {}{} steps", about, FormatCount(size.least_steps));
}

}  // namespace

std::vector<std::string> UnreachedLimits(const BudgetConfig& budget, const std::map<std::string, std::string>& origin,
                                         const IterationSize& size) {
  std::vector<std::string> notes;
  const std::vector<Limit> limits = LimitsOf(budget, size);
  for (const Limit& limit : limits) {
    const Limit* ends = nullptr;
    for (const Limit& other : limits) {
      if (other.last < limit.first && (ends == nullptr || other.last < ends->last)) ends = &other;
    }
    if (ends == nullptr) continue;
    const auto place = origin.find(limit.path);
    const std::string at = place == origin.end() || place->second.empty() ? "" : place->second + " ";
    notes.push_back(fmt::format("{}{}: {} cannot be reached, because {} ends the trial {}", at, limit.path,
                                FormatCount(limit.value), ends->path, Why(limit, *ends, size)));
  }
  return notes;
}

}  // namespace backplane
