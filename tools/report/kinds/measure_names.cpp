#include "kinds/measure_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "kinds/comparison_spec.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/question.hpp"
#include "machine/resource_measures.hpp"
#include "record/host_metrics.hpp"
#include "record/phase_groups.hpp"
#include "record/report_kinds.hpp"
#include "results/reduction.hpp"

namespace backplane {
namespace {

// Names in addition to kHostMeasures, with one value per trial (results/result_set.hpp).
const char* const kOfATrial[] = {"measured_s", "iterations",      "env_steps",  "episodes",       "threads",
                                 "balance",    "learner_threads", "chunk_rows", "monitor_cpu_pct"};

std::set<std::string> KnownNames(const std::set<std::string>& recorded) {
  std::set<std::string> known = recorded;
  known.insert(std::begin(kOfATrial), std::end(kOfATrial));
  for (const HostMetric& metric : kHostMetrics) known.emplace(metric.name);
  for (const HostMeasure& measure : kHostMeasures) known.emplace(measure.name);
  known.insert(std::begin(resource_measure::kAll), std::end(resource_measure::kAll));
  for (const std::string_view phase : kPhaseNames) known.insert(fmt::format("phase/{}", phase));
  known.insert({"phase/unnamed", "time/unnamed_control_pct"});
  std::vector<std::string> groups(kPhaseGroupNames.begin(), kPhaseGroupNames.end());
  groups.insert(groups.end(), {"waiting_for_a_core", "unnamed"});
  for (const std::string& group : groups)
    for (const char* what : {"pct", "s", "cpu_pct", "gpu_pct"}) known.insert(fmt::format("time/{}_{}", group, what));
  return known;
}

std::vector<NamedAt> NamesOf(const ReportSection& report, const std::vector<std::string>& live, const std::string& compared) {
  std::vector<NamedAt> names;
  if (const std::optional<MeasureSpec> measure = MeasureOfText(compared)) {
    for (const std::string& name : measure->expression.paths()) names.push_back({name, kComparedMetric});
  }
  for (size_t i = 0; i < live.size(); ++i) names.push_back({live[i], fmt::format("output.live.{}", i)});
  if (!TakesColumns(report.kind)) return names;
  std::vector<ReportError> told_before;
  const ComparisonSpec spec = ReadComparisonSpec(report, &told_before);
  for (const auto& some : {NamesIn(spec), CurvesIn(spec)}) names.insert(names.end(), some.begin(), some.end());
  return names;
}

// "report.columns" of "report.columns.1".
std::string KeyOf(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot != std::string::npos && path.find_first_not_of("0123456789", dot + 1) == std::string::npos ? path.substr(0, dot)
                                                                                                        : path;
}

}  // namespace

std::vector<Misnamed> FindMisnamed(const ReportSection& report, const std::vector<std::string>& live,
                                   const std::set<std::string>& recorded, const std::string& compared) {
  const std::set<std::string> known = KnownNames(recorded);
  const std::vector<Candidate> candidates = Candidates(std::vector<std::string>(known.begin(), known.end()));
  std::vector<Misnamed> misnamed;
  std::set<std::string> said;
  for (const auto& [name, path] : NamesOf(report, live, compared)) {
    if (path.empty()) continue;  // a default column: not in the file
    const auto reduced = SplitReducedName(name);
    const std::optional<Goal> goal = GoalOfMeasure(name);
    const std::string curve = goal ? goal->metric : reduced ? reduced->curve : name;
    if (known.contains(curve) || !said.insert(curve).second) continue;
    misnamed.push_back({path, curve, fmt::format("{}: nothing records '{}'", KeyOf(path), curve), Nearest(curve, candidates)});
  }
  return misnamed;
}

bool IsUndirected(const ComparedMeasure& compared, const RecordedMeasures& recorded, const ReportSection& report) {
  return MeasureOfText(compared.metric) && !compared.direction && DirectionOf(compared.metric, recorded, report) == 0;
}

int DirectionOf(const std::string& metric, const RecordedMeasures& recorded, const ReportSection& report) {
  const std::optional<MeasureSpec> measure = MeasureOfText(metric);
  if (!measure || measure->direction != 0) return measure ? measure->direction : 0;
  if (const int direction = DirectionInFile(metric, report)) return direction;
  const auto reduced = measure->IsOneName() ? SplitReducedName(metric) : std::nullopt;
  const std::string curve = reduced ? reduced->curve : metric;
  const auto told = recorded.find(curve);
  if (told != recorded.end() && told->second != 0) return told->second;
  const auto* const own = std::ranges::find(kHostMetrics, curve, &HostMetric::name);
  return own != std::end(kHostMetrics) ? own->direction : 0;
}

}  // namespace backplane
