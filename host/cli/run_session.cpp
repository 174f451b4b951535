#include "cli/run_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>

#include "batch/local_engine.hpp"
#include "cli/plugin_check.hpp"
#include "cluster/make_engine.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_search.hpp"
#include "record/results_folder.hpp"
#include "record/run_told.hpp"

namespace backplane {
namespace {

// For bp_run (backplane/embed.h), which follows the records of this run: where they are, and where the new ones begin.
void ReportToStarter(const BatchRequest& request) {
  const char* const text = std::getenv(kTellVariable);
  if (text == nullptr) return;
  const ResultsFolder results{std::filesystem::absolute(request.out)};
  std::error_code error;
  const uint64_t old = request.fresh ? 0 : std::filesystem::file_size(results.events(), error);
  TellRun(static_cast<int>(std::strtol(text, nullptr, 10)),
          {results.out, results.progress(request.plan.base.experiment.progress_file.value_or("")), error ? 0 : old});
  unsetenv(kTellVariable);  // child processes must not report
}

void PrintWhyNot(const std::exception& error) { LogError("backplane: {}\nnothing was started", error.what()); }

}  // namespace

RunSession::RunSession(const RunArgs& args, Plan plan) : limits_{args.jobs, args.gpus} {
  request.plan = std::move(plan);
  const Experiment& base = request.plan.base.experiment;
  request.out = args.out.empty() ? std::filesystem::path(base.output_dir) : args.out;
  request.config_file = args.input.file;
  request.set = args.input.set;
  request.sweep = args.sweep;
  TypedArguments& typed = request.arguments.emplace();
  typed.preset = args.input.preset;
  typed.plugin_path = args.input.plugin_path;
  typed.out = args.out.string();
  if (args.skip_invalid) typed.skip_invalid = "yes";
  if (args.jobs) typed.jobs = fmt::format("{}", *args.jobs);
  if (args.gpus) typed.gpus = fmt::format("{}", fmt::join(*args.gpus, ","));
  request.fresh = args.fresh;
  request.accept_change = args.accept_change;
  request.skip_invalid = args.skip_invalid;
  request.check_names = MisnamedMeasures;
  request.unrecorded = UnrecordedNames;
  request.direction = DirectionOfSearch;
  request.quiet = args.quiet;
  request.only_failed = args.only_failed;
  request.only_damaged = args.only_damaged;
  request.only_pruned = args.only_pruned;
  request.only_stage = args.stage;
  request.adopt_history = args.adopt_history;
  request.program = TrialProgram();
  request.typed_program = args.typed_program;
  request.torch_lib = FindTorchLib();
  request.end_jobs = EndClusterJobs;
  if (base.page) request.report_program = ReportProgram().file();
}

bool RunSession::is_elsewhere() const { return request.plan.base.experiment.engine.kind != kLocalEngine; }

bool RunSession::FindRoom() {
  if (is_elsewhere()) return true;
  try {
    here_.emplace(ThisMachine(), limits_);
    std::set<std::string> printed;
    const auto look = [&](const Experiment& experiment) {
      here_->Require(experiment.resources);
      for (const std::string& note : here_->Notes(experiment.resources, experiment.rollout)) {
        if (printed.insert(note).second) LogInfo("note: {}", note);
      }
    };
    look(request.plan.base.experiment);
    const Plan& checked = request.plan.Checked();
    for (const PlannedTrial& trial : checked.trials) {
      const auto& values = checked.points[trial.point].values;
      const bool own = std::any_of(values.begin(), values.end(), [](const auto& value) {
        return value.first.starts_with("resources") || value.first.starts_with("rollout");
      });
      if (own) look(checked.ExperimentOf(trial.point));
    }
    return true;
  } catch (const std::runtime_error& error) {
    PrintWhyNot(error);
    return false;
  }
}

ResourcePool RunSession::SlotsFor(size_t at_once) const {
  return {SlotsOf(NeedsOf(request.plan), at_once), {.jobs = static_cast<unsigned>(at_once), .gpus = {}}};
}

ResourcePool RunSession::pool() const {
  return is_elsewhere() ? SlotsFor(limits_.jobs.value_or(request.plan.base.experiment.engine.nodes)) : here_.value();
}

std::optional<BatchReport> RunSession::Run() {
  const Experiment& base = request.plan.base.experiment;
  const auto needs = [&] { return is_elsewhere() ? NeedsOf(request.plan) : EngineNeeds(); };
  MadeEngine made;
  try {
    made = MakeEngine({base.engine, needs(), limits_.jobs, request.out, OwnProgram(), base.name});
  } catch (const std::runtime_error& error) {
    if (!is_elsewhere()) throw;
    PrintWhyNot(error);
    return std::nullopt;
  }
  ReportToStarter(request);
  if (!is_elsewhere()) return RunBatch(&request, made.engine.get(), &*here_);
  // The plugins are checked here, and the trials run there.
  LocalEngine here(request.program);
  ResourcePool machine(ThisMachine(), {}), slots = SlotsFor(made.at_once);
  request.check_here = {&here, &machine};
  BatchReport report = RunBatch(&request, made.engine.get(), &slots);
  request.check_here.reset();
  return report;
}

}  // namespace backplane
