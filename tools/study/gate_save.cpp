#include "study/gate_save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "arguments/command.hpp"
#include "base/files.hpp"
#include "base/json_path.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "base/shell_argument.hpp"
#include "base/text_columns.hpp"
#include "input/experiment_file.hpp"
#include "input/foreign_runs.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "plugin/elf.hpp"
#include "plugin/metadata.hpp"
#include "record/gate_baseline.hpp"
#include "record/goal.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/trial_file.hpp"
#include "statistics/scores_needed.hpp"
#include "study/gate_facts.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kLimit = 0.05, kAlphaOfSide = 0.05;
constexpr size_t kNoteWidth = 80;

json ReadJson(const fs::path& file) {
  const json read = json::parse(ReadFile(file).value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) throw std::runtime_error(file.string() + " is missing or broken");
  return read;
}

// Measures that conditions cannot use, because their values vary between runs or there are hundreds of them.
bool IsKept(const std::string& measure) {
  return std::ranges::none_of(std::array{"resources/", "phase/", "time/", "precision/"},
                              [&](const char* group) { return measure.starts_with(group); });
}

// An error if these trials cannot be a baseline, else empty.
std::string WhyNone(const std::vector<TrialMeasures>& trials) {
  std::set<std::string> points;
  size_t waiting = 0;
  for (const TrialMeasures& trial : trials) {
    points.insert(trial.name);
    waiting += !trial.usable && trial.outcome != Outcome::kNan ? 1 : 0;
  }
  if (points.size() != 1)
    return fmt::format("expected one point, whose runs differ only in their seeds, got {}", points.size());
  if (waiting > 0)
    return fmt::format("expected complete runs, got {} of {} that failed or have not ended\nhint: `run` the file again",
                       waiting, trials.size());
  if (trials.size() < kLeastSeedsOfGate)
    return fmt::format("expected {} seeds or more, got {}\nhint: `sweep: {{seeds: {{n: {}}}}}` gives full power",
                       kLeastSeedsOfGate, trials.size(), kFullSeedsOfGate);
  return "";
}

// Copies a plugin with its parts, and its libraries from the same folder.
void Keep(const fs::path& plugin, const fs::path& folder) {
  fs::copy_file(plugin, folder / plugin.filename(), fs::copy_options::overwrite_existing);
  std::vector<std::string> beside = ElfFile(plugin).Needed();
  const PluginInfo info = ReadPlugins(plugin).front();
  for (const PartInfo& part : info.parts) beside.push_back(part.file);
  for (const std::string& library : beside) {
    const fs::path file = plugin.parent_path() / library;
    if (fs::exists(file)) fs::copy_file(file, folder / library, fs::copy_options::overwrite_existing);
  }
}

// The plugin files, and the experiment that runs them.
void KeepPlugins(const fs::path& experiment, const TrialFile& trial, const GateBaseline& baseline) {
  const fs::path folder = experiment.parent_path();
  if (fs::exists(folder) && !fs::exists(experiment) && !fs::is_empty(folder))
    throw std::runtime_error(folder.string() + " exists, and `gate save` did not write it");
  json config = baseline.config;
  for (const auto& [section, plugin] : {std::pair{"env", &trial.env}, {"learner", &trial.learner}}) {
    const std::string place = std::string(section) + ".plugin";
    const auto recorded = baseline.files.find(place);
    if (!fs::exists(plugin->file) || (recorded != baseline.files.end() && Sha256OfFile(plugin->file) != recorded->second))
      throw std::runtime_error(
          fmt::format("{} has changed since the {} ran, so speeds could not be judged\nhint: `run` the file again, or leave "
                      "out the plugins with --no-plugins",
                      plugin->file.string(), section));
    SetAtPath(&config, place, "./" + plugin->file.filename().string());
  }
  for (const char* of_a_run : {"output", "report", "sweep", "compare"}) config.erase(of_a_run);
  // Completes new files before they replace the old ones, which may be the sources.
  const fs::path made = folder.string() + ".new";
  fs::remove_all(made);
  fs::create_directories(made);
  Keep(trial.env.file, made);
  Keep(trial.learner.file, made);
  WriteFileAtomic(made / experiment.filename(),
                  "# Experiment of a baseline, with its own plugin files. Written by `gate save`.\n" + YamlText(config, {}));
  fs::remove_all(folder);
  fs::rename(made, folder);
}

// The steps to the goal of budget.until; else eval/return or return; for a command without either, its first own metric. Empty:
// none.
std::string MeasureToGate(const GateBaseline& baseline) {
  std::vector<std::string> names = {"eval/return", "return"};
  if (const std::optional<Goal> until = GoalOfConfig(baseline.config)) names.insert(names.begin(), until->StepsMeasure());
  for (const auto& [name, pattern] : AtPath(baseline.config, "learner.metrics").items()) names.push_back(name);
  const auto known = std::ranges::find_if(names, [&](const auto& name) { return baseline.trials.front().Find(name); });
  return known == names.end() ? "" : *known;
}

}  // namespace

std::string WhyNotKept(const fs::path& file, const GateBaseline& baseline) {
  const fs::path experiment = GateBaseline::KeptExperiment(file);
  if (!fs::exists(experiment)) return experiment.string() + " is missing; `gate save` writes it, unless --no-plugins is set";
  std::set<std::string> hashes;
  for (const auto& entry : fs::directory_iterator(experiment.parent_path())) hashes.insert(Sha256OfFile(entry.path()));
  for (const char* place : {"env.plugin", "learner.plugin"}) {
    const auto wanted = baseline.files.find(place);
    if (wanted != baseline.files.end() && !hashes.contains(wanted->second))
      return fmt::format("{}: expected the baseline's {} with a SHA-256 that begins with {}, got no such file",
                         experiment.parent_path().string(), place, wanted->second.substr(0, 12));
  }
  return "";
}

std::string SeedsThatHelp(const std::string& measure, const std::string& condition, const std::vector<TrialMeasures>& trials) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(trials.size());
  for (const TrialMeasures& trial : trials) sum += trial.Find(measure) ? *trial.Find(measure) : std::nan("");
  const double mean = sum / n;
  for (const TrialMeasures& trial : trials) squares += std::pow(trial.Find(measure) ? *trial.Find(measure) - mean : 0, 2);
  statistics::Difference limit{};
  limit.value = kLimit * std::abs(mean);
  limit.standard_error = std::sqrt(squares / (n - 1) * 2 / n);
  if (!std::isfinite(mean)) return "";
  const std::optional<size_t> needed = statistics::ScoresNeeded(limit, trials.size(), 2 * kAlphaOfSide);
  if (!needed) return "";
  return fmt::format(
      "The standard deviation of {} between seeds is {:.2g} % of its mean. With about {} seeds, '{}' passes 80 % of the "
      "changes that keep the mean; this baseline has {}.",
      measure, 100 * std::sqrt(squares / (n - 1)) / std::abs(mean), *needed, condition, trials.size());
}

int GateSave(const GateSaveArgs& given) {
  GateSaveArgs args = given;
  std::vector<fs::path> folders = {args.out};
  if (!ReplaceForeign(&folders, args.typed_program)) return kUsage;
  args.out = folders.front();
  if (!IsResultsFolder(args.out)) {
    LogError("backplane: {}", NotResults(args.out));
    return kUsage;
  }
  if (fs::is_directory(args.to)) {
    LogError("backplane: --to {}: expected a file, got a folder\nnothing was saved", args.to.string());
    return kUsage;
  }
  GateBaseline baseline;
  for (TrialMeasures& trial : MeasuresOf(args.out).trials) {
    std::erase_if(trial.values, [](const auto& value) { return !IsKept(value.first); });
    baseline.trials.push_back(std::move(trial));
  }
  if (const std::string why = WhyNone(baseline.trials); !why.empty()) {
    LogError("backplane: {}: {}\nnothing was saved", args.out.string(), why);
    return kUsage;
  }
  const ResultsFolder folder{args.out};
  const std::vector<PlanLine> plan = ReadPlanFile(folder.plan());
  const PlanLine& first = *std::ranges::find(plan, false, &PlanLine::dropped);
  const auto trial = RecordFromJson<TrialFile>(ReadJson(folder.trial(first.trial_id).trial_json()));
  baseline.config = trial.config;
  baseline.experiment = baseline.config.value("experiment", "");
  baseline.files = first.files;
  AddFacts(args.out, first.trial_id, &baseline);
  const fs::path experiment = GateBaseline::KeptExperiment(args.to);
  if (!args.to.parent_path().empty()) fs::create_directories(args.to.parent_path());
  const bool keeps_plugins = !args.no_plugins && !trial.learner.file.empty();  // commands have none
  if (keeps_plugins) {
    KeepPlugins(experiment, trial, baseline);
  } else if (fs::exists(experiment)) {
    fs::remove_all(experiment.parent_path());  // of an earlier baseline
  }
  WriteFileAtomic(args.to, JsonText(ToJson(baseline), 1) + "\n");
  const size_t seeds = baseline.trials.size();
  fmt::print("{}: baseline of {} seeds of {}{}\n", args.to.string(), seeds, baseline.experiment,
             keeps_plugins ? ", its plugin files in " + experiment.parent_path().string() : ", without plugin files");
  const std::string measure = MeasureToGate(baseline);
  if (measure.empty()) return kOk;
  const bool falls = measure.ends_with("loss") || measure.starts_with(kStepsTo) || MeasuresOf(args.out, measure).direction < 0;
  const std::string condition = fmt::format("{} {}", measure, falls ? "> 5%" : "< -5%");
  if (const std::string note = SeedsThatHelp(measure, condition, baseline.trials); !note.empty())
    fmt::print("{}", WrapAfter("  note:   ", "          ", note, kNoteWidth));
  fmt::print("  next:   {} gate {} {} --fail-if '{}'\n", args.typed_program, ShellArgument(args.to.string()),
             baseline.config_file.empty() ? "FILE" : ShellArgument(baseline.config_file.string()), condition);
  return kOk;
}

}  // namespace backplane
