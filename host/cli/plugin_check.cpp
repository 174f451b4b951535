#include "cli/plugin_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "arguments/command.hpp"
#include "base/interrupt.hpp"
#include "base/json_path.hpp"
#include "base/scratch_folder.hpp"
#include "base/suggest.hpp"
#include "batch/local_engine.hpp"
#include "input/check_report.hpp"
#include "input/load_file.hpp"
#include "log/log.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

constexpr size_t kShownPoints = 3;

// Takes ":12" from the end of `place`.
std::optional<int> TakeLastNumber(std::string* place) {
  const size_t colon = place->rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  int number = 0;
  const char *const begin = place->data() + colon + 1, *const end = place->data() + place->size();
  const auto [at, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || at != end || number < 0) return std::nullopt;
  place->resize(colon);
  return number;
}

// `place` as Place() writes it: "walk.yaml:12:5", or "--set".
Diagnostic DiagnosticAt(const std::string& place, std::string message) {
  std::string name = place;
  const std::optional<int> column = TakeLastNumber(&name);
  const std::optional<int> line_number = column ? TakeLastNumber(&name) : std::nullopt;
  if (!line_number) return {place, 0, 0, std::move(message), ""};
  Diagnostic diagnostic{name, *line_number, *column, std::move(message), ""};
  std::ifstream file(diagnostic.file);
  for (int line = 0; line < diagnostic.line && std::getline(file, diagnostic.source_line);) ++line;
  return diagnostic;
}

std::string PlaceOf(const Plan& plan, const FailedCheck& check) {
  if (check.killed) return "";  // no line of the file is to blame
  if (!check.place.empty()) return check.place;
  const LoadedExperiment loaded = plan.Load(plan.trials[check.trials.front()]);
  // An unknown place is most often in the env.
  std::string key = check.plugin == check.learner ? "learner.plugin" : "env.plugin";
  for (size_t i = loaded.monitors.size(); i-- > 0;)
    if (loaded.monitors[i]->id == check.plugin) key = fmt::format("monitors.{}.plugin", i);
  const auto found = loaded.origin.find(key);
  return found == loaded.origin.end() ? "" : found->second;
}

std::string MessageOf(const FailedCheck& check) {
  if (check.killed) return fmt::format("the check of {} with {} failed twice: {}", check.learner, check.env, check.error);
  if (check.learner.empty()) return check.error;  // of the file alone
  if (check.plugin.empty()) return fmt::format("{} with {}: {}", check.learner, check.env, check.error);
  // The sentence of a plugin that crashed does not name it.
  const std::string error = check.error.starts_with(check.plugin) ? check.error : check.plugin + ": " + check.error;
  const bool of_the_pair = check.plugin == check.learner && check.outcome == Outcome::kConfig && check.path.empty();
  return of_the_pair ? fmt::format("{} does not fit {}: {}", check.learner, check.env, error) : error;
}

// " (points 'a', 'b' and 5 more)"
std::string PointsText(const Plan& plan, const std::vector<size_t>& trials) {
  if (!plan.swept || trials.empty()) return "";
  std::set<size_t> points;
  for (const size_t trial : trials) points.insert(plan.trials[trial].point);
  std::string names;
  size_t shown = 0;
  for (const size_t point : points) {
    if (shown++ < kShownPoints) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", plan.points[point].name);
  }
  if (points.size() > kShownPoints) names += fmt::format(" and {} more", points.size() - kShownPoints);
  return fmt::format(" ({} {})", points.size() == 1 ? "point" : "points", names);
}

std::vector<std::string> NamesOf(const RecordedMeasures& recorded) {
  std::vector<std::string> names;
  for (const auto& [name, direction] : recorded) names.push_back(name);
  return names;
}

// The metric that compares arms or directs a search.
ComparedMeasure MeasureJudgedBy(const Plan& plan) {
  if (plan.search) return {plan.search->metric, plan.search->direction};
  return plan.compare ? ComparedMeasure{plan.compare->metric.value_or(""), plan.compare->direction} : ComparedMeasure{};
}

// Columns of a report may be settings instead of metrics.
bool IsPathOfAPoint(const Plan& plan, const std::string& name) {
  if (!AtPath(ToJson(plan.base.experiment), name).is_null()) return true;
  for (size_t point = 0; point < plan.points.size(); ++point)
    if (!AtPath(ToJson(plan.LoadPoint(point).experiment), name).is_null()) return true;
  return false;
}

}  // namespace

std::vector<SaidOnce> SayOnce(const Plan& plan, const std::vector<FailedCheck>& failed) {
  struct Said {
    std::string place, what, message;
    std::vector<size_t> trials;
    const FailedCheck* first;
  };
  std::vector<Said> all;
  for (const FailedCheck& check : failed) {
    FailedCheck without_last_words = check;
    without_last_words.error = check.cause;
    Said said{PlaceOf(plan, check), MessageOf(without_last_words), MessageOf(check), check.trials, &check};
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Said& other) { return other.place == said.place && other.what == said.what; });
    if (same == all.end()) {
      all.push_back(std::move(said));
    } else {
      same->trials.insert(same->trials.end(), said.trials.begin(), said.trials.end());
    }
  }
  std::vector<SaidOnce> once;
  for (const Said& said : all)
    once.push_back({DiagnosticAt(said.place, said.message.substr(0, said.message.find('\n')) + PointsText(plan, said.trials)),
                    *said.first});
  return once;
}

void PrintError(const SaidOnce& said) {
  LogError("{}", Format(said.diagnostic));
  const std::vector<std::string> lines = PrintableLines(said.check.error);
  for (size_t i = 1; i < lines.size(); ++i) LogError("{}{}", lines[i].starts_with("hint: ") ? "" : "  ", lines[i]);
}

int DirectionOfSearch(const Plan& plan, const RecordedMeasures& recorded) {
  return CheckMeasures(plan.base.experiment, MeasureJudgedBy(plan), recorded).direction;
}

std::vector<FailedCheck> MisnamedMeasures(const Plan& plan, const RecordedMeasures& recorded) {
  std::vector<FailedCheck> wrong;
  const auto add = [&](const std::string& path, const std::string& message, const std::string& more) {
    wrong.push_back({{}, "", "", Outcome::kConfig, message + more, "", path, plan.PlaceOf(path), {}, message});
  };
  const ComparedMeasure compared = MeasureJudgedBy(plan);
  const ReportCheckAnswer answer = CheckMeasures(plan.base.experiment, compared, recorded);
  bool may_be_told_later = false;
  for (Misnamed one : answer.misnamed) {
    if (IsPathOfAPoint(plan, one.name)) continue;
    may_be_told_later = may_be_told_later || one.path == kComparedMetric;
    if (plan.search && one.path == kComparedMetric) {
      // Every trial would fail without it, so no plugin gets the benefit of the doubt.
      add(kSearchMetric, fmt::format("{}: expected a metric that trials record, got '{}'", kSearchMetric, one.name),
          one.near.empty() ? fmt::format(" (the plugins record {})", fmt::join(NamesOf(recorded), ", "))
                           : DidYouMean(one.near));
    } else if (one.near.empty()) {
      LogInfo("note: {}", one.message);
    } else {
      add(one.path, one.message, DidYouMean(one.near));
    }
  }
  if (answer.undirected && !may_be_told_later)
    add(plan.search ? kSearchMetric : kComparedMetric,
        fmt::format("expected {1}, because the direction of '{0}' is unknown", compared.metric,
                    plan.search ? "sweep.search.objective.direction" : "compare.direction"),
        "");
  return wrong;
}

std::vector<UnrecordedName> UnrecordedNames(const Plan& plan, const RecordedMeasures& recorded, bool has_ended) {
  std::vector<UnrecordedName> names;
  for (const Misnamed& one : CheckMeasures(plan.base.experiment, MeasureJudgedBy(plan), recorded).misnamed) {
    const bool ends_the_search = plan.search && one.path == kComparedMetric;  // with an error of its own
    if (ends_the_search || (!has_ended && one.near.empty()) || IsPathOfAPoint(plan, one.name)) continue;
    const std::string place = plan.PlaceOf(one.path);
    const std::string hint =
        one.near.empty() ? fmt::format(" (the trial reported {})", fmt::join(NamesOf(recorded), ", ")) : DidYouMean(one.near);
    names.push_back(
        {one.name, fmt::format("{}{}{}{}{}", place, place.empty() ? "" : ": ", one.message, has_ended ? "" : " so far", hint)});
  }
  return names;
}

std::optional<int> RejectedByPlugins(const Plan& plan, const std::filesystem::path& file, ResourcePool* resource_pool,
                                     const std::filesystem::path& kept_in, bool quiet) {
  const ScratchFolder folder;
  const InterruptScope interrupts;
  std::vector<size_t> trials(plan.trials.size());
  for (size_t i = 0; i < trials.size(); ++i) trials[i] = i;
  LocalEngine engine(OwnProgram());
  const AttemptPlace place{folder.path(), TrialProgram(), FindTorchLib(), {}, nullptr, {}, kept_in};
  CheckedOptions report = CheckOptions(plan, trials, place, &engine, resource_pool);
  if (report.recorded) {
    for (FailedCheck& one : MisnamedMeasures(plan, *report.recorded)) report.failed.push_back(std::move(one));
  }
  if (report.interrupted) {
    if (!quiet) std::fputs(kStoppedWhileChecking, stderr);
    return kInterrupted;
  }
  if (!quiet) {
    for (const std::string& note : report.notes) LogInfo("note: {}", note);
    for (const std::string& warning : report.warnings) LogWarning("warning: {}", warning);
  }
  if (report.failed.empty()) return std::nullopt;
  const std::vector<SaidOnce> errors = SayOnce(plan, report.failed);
  for (const SaidOnce& said : errors) PrintError(said);
  Complain(errors.size(), file);
  // After a crash, for example, a plugin is wrong, not the file.
  const bool all_config = std::ranges::all_of(report.failed, [](const auto& one) { return one.outcome == Outcome::kConfig; });
  return all_config ? kUsage : kFailed;
}

}  // namespace backplane
