#include "batch/launcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/error_words.hpp"
#include "base/interrupt.hpp"

namespace backplane {

void Launcher::Launch() {
  while (!state_.stopping() && InterruptScope::Count() == state_.interrupts) {
    const auto trial = NextTrial();
    if (!trial) return;
    if (!next_ || next_->first != *trial) next_.emplace(*trial, state_.plan.Load(state_.plan.trials[*trial]));
    const ResourceConfig& resources = next_->second.experiment.resources;
    const auto allocation = resource_pool_.Take(resources, resources.exclusive);
    if (!allocation) return;
    if (!state_.watch->InPlace()) return resource_pool_.Give(*allocation);
    Start(*trial, next_->second, *allocation);
    next_.reset();
  }
}

std::optional<size_t> Launcher::NextTrial() {
  std::optional<size_t> trial = state_.schedule.Next(state_.Now());
  while (!trial && state_.schedule.waiting() == 0 && search_.Grow()) trial = state_.schedule.Next(state_.Now());
  return trial;
}

void Launcher::Start(size_t trial, const LoadedExperiment& loaded, const Allocation& allocation) {
  const PlannedTrial& planned = state_.plan.trials[trial];
  std::unique_ptr<Attempt> attempt;
  try {
    LoadedExperiment limited = loaded;
    limited.experiment.resources.device_memory = resource_pool_.MemoryOfDevice(loaded.experiment.resources, allocation);
    attempt = std::make_unique<Attempt>(state_.Place(), limited, planned.id, state_.plan.IdBefore(planned), allocation);
  } catch (const std::exception& error) {
    resource_pool_.Give(allocation);
    return settler_.NotStarted(trial, std::max(state_.FolderOf(trial).LastAttempt(), 1u), WordsOf(error));
  }
  const unsigned number = attempt->number();
  Record(trial, *attempt, allocation);
  state_.schedule.Set(trial, TrialState::kRunning);
  ++state_.report.started;
  try {
    jobs_.Start(trial, std::move(attempt), allocation);
  } catch (const std::exception& error) {
    settler_.NotStarted(trial, number, WordsOf(error));
  }
}

void Launcher::Record(size_t trial, const Attempt& attempt, Allocation allocation) {
  std::string place = fmt::format("cores {}", fmt::join(allocation.cores, ","));
  if (engine_.IsElsewhere()) {  // the node chooses the cores; only their number is known here
    const size_t n = allocation.cores.size();
    place = fmt::format("on a node, with {} core{}", n, n == 1 ? "" : "s");
    std::iota(allocation.cores.begin(), allocation.cores.end(), 0);
    allocation.gpus.clear();
  }
  const std::string& id = state_.plan.trials[trial].id;
  state_.log->Append(AttemptStart{allocation.cores, allocation.gpus, attempt.resumed(), engine_.IsElsewhere()}, id,
                     attempt.number());
  state_.display.Detail(fmt::format("{} starts: attempt {} of trial {}{}, {}{}", state_.names[trial], attempt.number(), id,
                                    attempt.resumed() ? ", from its checkpoint" : "", place,
                                    allocation.gpus.empty() ? "" : fmt::format(", GPUs {}", fmt::join(allocation.gpus, ","))));
}

}  // namespace backplane
