#include "cluster/engine_needs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace backplane {
namespace {

void Add(const Experiment& experiment, bool is_first, EngineNeeds* needs) {
  const ResourceConfig& resources = experiment.resources;
  const RolloutConfig& rollout = experiment.rollout;
  needs->cpus = std::max(needs->cpus, resources.cpus.value_or(1));
  needs->gpus = std::max(needs->gpus, resources.gpus);
  const auto largest = [is_first](auto known, const auto& asked) {
    return asked && (is_first || known) ? std::optional(std::max(known.value_or(0), *asked)) : std::nullopt;
  };
  needs->memory_bytes = largest(needs->memory_bytes, resources.memory_bytes);
  needs->wall_time_s = largest(needs->wall_time_s, resources.wall_time_s);
  needs->exclusive |= resources.exclusive;
  if (rollout.workers == 0) return;
  // They share the trial's threads, and each has at least one (trial/start_workers.cpp).
  const uint64_t threads = std::max(rollout.workers, rollout.threads.value_or(resources.cpus.value_or(1)));
  needs->worker_cpus = std::max(needs->worker_cpus, threads);
  needs->largest_worker = std::max(needs->largest_worker, (threads + rollout.workers - 1) / rollout.workers);
}

}  // namespace

EngineNeeds NeedsOf(const Plan& plan) {
  EngineNeeds needs;
  needs.trials = plan.trials.size();
  Add(plan.base.experiment, /*is_first=*/true, &needs);
  for (const PlannedTrial& trial : plan.trials) {
    const auto& values = plan.points[trial.point].values;
    const bool own = std::any_of(values.begin(), values.end(), [](const auto& value) {
      return value.first.starts_with("resources") || value.first.starts_with("rollout");
    });
    if (own) Add(plan.ExperimentOf(trial.point), /*is_first=*/false, &needs);
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
