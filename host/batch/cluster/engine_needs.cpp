#include "cluster/engine_needs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace backplane {
namespace {

void Add(const ResourceConfig& resources, bool is_first, EngineNeeds* needs) {
  needs->cpus = std::max(needs->cpus, resources.cpus.value_or(1));
  needs->gpus = std::max(needs->gpus, resources.gpus);
  const auto largest = [is_first](auto known, const auto& asked) {
    return asked && (is_first || known) ? std::optional(std::max(known.value_or(0), *asked)) : std::nullopt;
  };
  needs->memory_bytes = largest(needs->memory_bytes, resources.memory_bytes);
  needs->wall_time_s = largest(needs->wall_time_s, resources.wall_time_s);
  needs->exclusive |= resources.exclusive;
}

}  // namespace

EngineNeeds NeedsOf(const Plan& plan) {
  EngineNeeds needs;
  needs.trials = plan.trials.size();
  Add(plan.base.experiment.resources, /*is_first=*/true, &needs);
  for (const PlannedTrial& trial : plan.trials) {
    const auto& values = plan.points[trial.point].values;
    const bool own =
        std::any_of(values.begin(), values.end(), [](const auto& value) { return value.first.starts_with("resources"); });
    if (own) Add(plan.ExperimentOf(trial.point).resources, /*is_first=*/false, &needs);
  }
  return needs;
}

Machine SlotsOf(const EngineNeeds& needs, size_t at_once) {
  Machine slots;
  for (size_t i = 0; i < at_once * needs.cpus; ++i) slots.cpus.push_back({static_cast<int>(i), static_cast<int>(i), 0});
  slots.granted_cores = static_cast<unsigned>(slots.cpus.size());
  const auto gpus = static_cast<size_t>(std::ceil(needs.gpus)) * at_once;
  for (size_t i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.index = static_cast<unsigned>(i);
    gpu.uuid = "slot-" + std::to_string(i);
    gpu.memory_bytes = 0;  // unknown here
    slots.gpus.push_back(gpu);
  }
  return slots;
}

}  // namespace backplane
