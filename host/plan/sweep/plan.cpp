#include "sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "contract/recorded_budget.hpp"
#include "contract/start_source.hpp"
#include "record/compare_looks.hpp"
#include "record/report_check.hpp"
#include "sweep/compare_section.hpp"
#include "sweep/goal_measures.hpp"
#include "sweep/planner.hpp"
#include "sweep/preset_changes.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {

using nlohmann::json;

namespace {

// "learner.options.lr" for `lr`; empty: the file's plugins have no such option.
std::string PathOfOption(const std::string& name, const std::filesystem::path& file, const PlanOptions& options) {
  const LoadResult result = LoadExperiment(file, {options.set, options.lookup, options.presets});
  if (!result.loaded) return "";
  for (const auto& [section, info] : {std::pair("learner", result.loaded->learner), {"env", result.loaded->env}}) {
    for (const OptionInfo& option : info->options)
      if (option.path == name || std::ranges::find(option.aliases, name) != option.aliases.end())
        return fmt::format("{}.options.{}", section, option.path);
  }
  return "";
}

// Places of the measures that compare points. Call it before the comparison is taken out of `text`.
MeasureMarks MarksOf(const ExperimentText& text) {
  const Entry* metric = text.compare ? FindEntry(text.compare->value, "metric") : nullptr;
  return {metric ? metric->mark : text.compare ? text.compare->mark : Mark(), PathMark(text.root, "report.select")};
}

// A search has a report of kind search, unless the file names a different one. Call it before the sweep is taken out of `text`.
void SetReportOfSearch(ExperimentText* text) {
  const Entry* search = text->sweep ? FindEntry(text->sweep->value, "search") : nullptr;
  if (!search || FindPath(text->root, "report.kind")) return;
  Node kind;
  kind.kind = Node::Kind::kScalar;
  kind.mark = search->mark;
  kind.text = "search";
  SetPath(&text->root, "report.kind", search->mark, std::move(kind));
}

// sweep.seeds replaces the seed, so another value has no effect. Generated files repeat the first one.
void RejectUnusedSeed(const ExperimentText& text, const Sweep& sweep, Errors* errors) {
  if (!sweep.seeds) return;
  const auto check = [&](const Node& seed) {
    const json value = PlainJson(seed);
    if (value == json(sweep.seeds->first)) return;
    errors->Add(seed.mark, fmt::format("seed: expected none next to sweep.seeds, which sets the seeds from {} on, got {}; set "
                                       "sweep.seeds.first instead",
                                       sweep.seeds->first, value.dump()));
  };
  const auto set = std::ranges::find(text.set, "seed", &Override::path);
  if (set != text.set.end()) return check(set->value);
  if (const Entry* seed = FindEntry(text.root, "seed")) check(seed->value);
}

// It has the keys of a recorded budget.
void CheckScheduleBudget(const Plan& plan, Errors* errors) {
  const json& written = plan.base.experiment.schedule_budget;
  if (written.is_null()) return;
  const auto refuse = [&](const std::string& why) {
    errors->AddFile(plan.PlaceOf("schedule_budget"), "schedule_budget: " + why);
  };
  const std::optional<Budget> budget = ScheduleBudgetOf(plan.base.experiment);
  if (!budget || ToJson(*budget) != written)
    return refuse(fmt::format("expected a recorded budget such as {{iterations: 100}}, got {}", written.dump()));
  if (std::ranges::none_of(plan.points, [](const PlannedPoint& point) { return point.schedule_budget.has_value(); }))
    refuse(
        "expected a learner with schedules that read the budget, got none; remove this key, because a larger budget extends "
        "such trials without it");
}

// A preset's changes come first.
void AddNotes(const Errors& errors, const std::vector<std::string>& of_preset, Plan* plan) {
  plan->notes.insert(plan->notes.begin(), errors.notes().begin(), errors.notes().end());
  for (const std::string& note : of_preset)
    if (!note.empty()) plan->notes.insert(plan->notes.begin(), note);
}

}  // namespace

LoadedExperiment Plan::LoadPoint(size_t point) const { return memory_->resolver.Load(memory_->writes[point]); }

const Experiment& Plan::ExperimentOf(size_t point) const { return memory_->resolver.Look(memory_->writes[point]); }

std::string Plan::PlaceOf(const std::string& path) const {
  if (search && path == kSearchMetric) return Place(search->metric_mark);
  return compare && path == kComparedMetric ? metric_place : memory_->resolver.PlaceOf(path);
}

LoadedExperiment Plan::Load(const PlannedTrial& trial) const {
  LoadedExperiment loaded = LoadPoint(trial.point);
  loaded.experiment.seed = trial.seed;
  if (const auto start = trial.files.find(kStartKey); start != trial.files.end()) loaded.start_sha256 = start->second;
  const std::optional<Seeds>& swept_seeds = memory_->resolver.sweep().seeds;
  if (swept_seeds) loaded.origin["seed"] = Place(swept_seeds->mark);
  loaded.seeds = SeedsOf(memory_->resolver.sweep(), loaded.experiment);
  if (!points[trial.point].schedule_budget) loaded.experiment.schedule_budget = nullptr;
  return loaded;
}

json Plan::Identity(const PlannedTrial& trial) const {
  const LoadedExperiment loaded = Load(trial);
  const std::optional<size_t>& after = points[trial.point].after;
  return TrialIdentity(PointIdentity(loaded, memory_->swept[trial.point], after ? points[*after].id : "", memory_->rules),
                       trial.seed, trial.files, IdBefore(trial));
}

Suggested Plan::Suggest(uint64_t number, const json& params) { return planner_->Suggest(this, number, params); }

void Plan::Confirm(size_t point, uint64_t seeds) { planner_->Confirm(this, point, seeds); }

PlanResult MakePlan(const std::filesystem::path& file, const PlanOptions& options) {
  Errors errors;
  std::vector<ShortAxis> short_axes = ParseShortAxes(options.sweep, &errors);
  std::optional<ExperimentText> text = ReadExperimentText(file, options.set, options.presets, &errors);
  if (!text) return {std::nullopt, errors.Sorted()};
  const MeasureMarks marks = MarksOf(*text);
  const std::string metric_place = text->compare ? Place(marks.compare) : "";
  const std::optional<CompareTerms> compare = TakeComparison(&*text, &errors);
  if (options.without_sweep) text->sweep.reset();
  SetReportOfSearch(&*text);
  const bool swept = text->sweep || !short_axes.empty();
  std::optional<Entry> section = std::move(text->sweep);
  Sweep sweep = ReadSweep(section ? &*section : nullptr, std::move(short_axes), &errors,
                          [&](const std::string& name) { return PathOfOption(name, file, options); });
  if (compare)
    sweep.passes = (options.looks > 0 ? options.looks : compare->looks.max) * SeedsOfALook(*compare, sweep.list.size());
  sweep.given_seeds = options.seeds;
  RejectUnusedSeed(*text, sweep, &errors);
  const std::vector<std::string> of_preset = {text->preset.note, SayPresetChanges(*text, options.lookup, options.defaults)};
  std::optional<Entry> stage_section = std::move(text->stages);
  Stages stages = ReadStages(stage_section ? &*stage_section : nullptr, text->set_in_stages, &errors);
  CheckStagePaths(sweep, stages, &errors);
  if (!errors.empty() && (stage_section || !text->set_in_stages.empty())) return {std::nullopt, errors.Sorted()};
  Errors of_the_points;
  const nlohmann::json section_text = sweep.search ? PlainJson(section->value) : nlohmann::json();
  auto memory = std::make_shared<PlanMemory>(
      std::make_shared<PointResolver>(*std::move(text), std::move(sweep), std::move(stages), options.lookup, options.defaults),
      options.schema);
  if (options.check_report) memory->resolver.CheckReport(options.check_report, &errors);
  const auto planner =
      std::make_shared<Planner>(std::move(memory), swept, options.without_sweep, errors.empty(), &of_the_points);
  if (!options.fresh) planner->KeptIn(options.out);
  Plan plan = planner->Make();
  errors.AddNewPlaces(of_the_points);
  if (!errors.empty()) return {std::nullopt, errors.Sorted()};
  CheckScheduleBudget(plan, &errors);
  plan.compare = compare;
  plan.schema = options.schema;
  if (errors.empty()) CheckGoalMeasures(plan, marks, &errors);
  if (!errors.empty()) return {std::nullopt, errors.Sorted()};
  plan.search_section = section_text;
  if (plan.search) plan.planner_ = planner;
  plan.metric_place = metric_place;
  AddNotes(errors, of_preset, &plan);
  return {std::move(plan), {}};
}

}  // namespace backplane
