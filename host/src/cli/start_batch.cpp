#include "cli/start_batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "cli/plugin_check.hpp"
#include "log/log.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {

std::optional<ResourcePool> ResourcePoolFor(const Plan& plan, const ResourceLimits& limits) {
  try {
    ResourcePool resource_pool(ThisMachine(), limits);
    if (const std::string& kind = plan.base.experiment.engine.kind; kind != kLocalEngine)
      LogInfo("note: engine.kind {} is `run`'s alone: these trials run on this machine", kind);
    std::set<std::string> said;
    const auto look = [&](const Experiment& experiment) {
      resource_pool.Require(experiment.resources);
      for (const std::string& note : resource_pool.Notes(experiment.resources, experiment.rollout)) {
        if (said.insert(note).second) LogInfo("note: {}", note);
      }
    };
    look(plan.base.experiment);
    const Plan& checked = plan.Checked();
    for (const PlannedTrial& trial : checked.trials) {
      const auto& values = checked.points[trial.point].values;
      const bool own = std::any_of(values.begin(), values.end(), [](const auto& value) {
        return value.first.starts_with("resources") || value.first.starts_with("rollout");
      });
      if (own) look(checked.ExperimentOf(trial.point));
    }
    return resource_pool;
  } catch (const std::runtime_error& error) {
    LogError("backplane: {}\nnothing was started", error.what());
    return std::nullopt;
  }
}

void FillRequest(const RunArgs& args, BatchRequest* request) {
  request->config_file = args.input.file;
  request->set = args.input.set;
  request->sweep = args.sweep;
  TypedArguments& typed = request->arguments.emplace();
  typed.preset = args.input.preset;
  typed.plugin_path = args.input.plugin_path;
  typed.out = args.out.string();
  if (args.skip_invalid) typed.skip_invalid = "yes";
  if (args.jobs) typed.jobs = fmt::format("{}", *args.jobs);
  if (args.gpus) typed.gpus = fmt::format("{}", fmt::join(*args.gpus, ","));
  request->fresh = args.fresh;
  request->accept_change = args.accept_change;
  request->skip_invalid = args.skip_invalid;
  request->check_names = MisnamedMeasures;
  request->direction = DirectionOfSearch;
  request->quiet = args.quiet;
  request->only_failed = args.only_failed;
  request->only_damaged = args.only_damaged;
  request->only_pruned = args.only_pruned;
  request->adopt_history = args.adopt_history;
  request->program = OwnProgram();
  request->torch_lib = FindTorchLib();
}

}  // namespace backplane
