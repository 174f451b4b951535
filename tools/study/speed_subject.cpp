#include "study/speed_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

constexpr size_t kKnownPoints = 20;

// Absent after Complain.
std::optional<Plan> PlanOrComplain(const FileArgs& file, PluginSearch* search, bool without_sweep = false) {
  PlanOptions options{file.set, {}, search->Lookup(), PresetsFor(file)};
  options.without_sweep = without_sweep;
  PlanResult planned = PlanFile(file.file, options);
  if (!planned.plan) Complain(planned.errors, file.file);
  return std::move(planned.plan);
}

std::optional<SpeedSubject> WithoutSweep(const FileArgs& file, const Plan& plan, PluginSearch* search) {
  SpeedSubject subject{plan.base.experiment, plan.notes};
  if (plan.swept) subject.notes.push_back("note: the sweep of the file is left out");
  if (plan.stages.empty()) return subject;
  const std::optional<Plan> stages = PlanOrComplain(file, search, /*without_sweep=*/true);
  if (!stages) return std::nullopt;
  subject.experiment = stages->LoadPoint(0).experiment;
  subject.notes.push_back("note: only the first stage of the file is measured: " + plan.stages.front());
  return subject;
}

bool CanHelp(const LoadedExperiment& loaded) {
  const auto helps = [](const PluginInfo& info) {
    return std::any_of(info.options.begin(), info.options.end(),
                       [](const OptionInfo& option) { return !option.helps.empty(); });
  };
  return helps(*loaded.env) || helps(*loaded.learner);
}

SpeedSubject OfPoint(const Plan& plan, size_t point) {
  const std::string& name = plan.points[point].name;
  return {plan.LoadPoint(point).experiment,
          {fmt::format("note: point {} of the file is tuned; --point NAME selects a different one", name)}};
}

void ComplainOfPoint(const Plan& plan, const std::string& wanted, const FileArgs& file) {
  std::vector<std::string> names;
  for (const PlannedPoint& point : plan.points) {
    if (!point.name.empty()) names.push_back(point.name);
  }
  std::string known;
  for (size_t i = 0; i < std::min(names.size(), kKnownPoints); ++i) known += (i ? ", " : "") + names[i];
  if (names.size() > kKnownPoints) known += fmt::format(" and {} more", names.size() - kKnownPoints);
  LogError("backplane: {} has no point '{}'{}; points: {}\nnothing was started", Printable(file.file.string()),
           Printable(wanted), DidYouMean(Nearest(wanted, Candidates(names))),
           names.empty() ? "none, because it has no sweep" : known);
}

std::optional<SpeedSubject> SubjectToTune(const FileArgs& file, const std::string& point, PluginSearch* search) {
  const std::optional<Plan> plan = PlanOrComplain(file, search);
  if (!plan) return std::nullopt;
  if (!point.empty()) {
    for (size_t i = 0; i < plan->points.size(); ++i) {
      if (plan->points[i].name == point) return OfPoint(*plan, i);
    }
    ComplainOfPoint(*plan, point, file);
    return std::nullopt;
  }
  if (!plan->swept || CanHelp(plan->base)) return WithoutSweep(file, *plan, search);
  for (size_t i = 0; i < plan->points.size(); ++i) {
    if (!plan->points[i].after && CanHelp(plan->LoadPoint(i))) return OfPoint(*plan, i);
  }
  return WithoutSweep(file, *plan, search);
}

// The host does not know which options of a command make it faster.
std::optional<SpeedSubject> OfPlugins(const FileArgs& file, std::optional<SpeedSubject> subject) {
  if (!subject || !subject->experiment.HasCommand()) return subject;
  LogError(
      "backplane: {}: expected a learner plugin, got a command, whose rollouts the host cannot measure\nnothing was started",
      Printable(file.file.string()));
  return std::nullopt;
}

}  // namespace

std::optional<SpeedSubject> ReadSubject(const FileArgs& file, PluginSearch* search) {
  const std::optional<Plan> plan = PlanOrComplain(file, search);
  return plan ? OfPlugins(file, WithoutSweep(file, *plan, search)) : std::nullopt;
}

std::optional<SpeedSubject> ReadSubjectToTune(const FileArgs& file, const std::string& point, PluginSearch* search) {
  return OfPlugins(file, SubjectToTune(file, point, search));
}

}  // namespace backplane
