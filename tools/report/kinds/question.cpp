#include "kinds/question.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "kinds/host_measures.hpp"
#include "machine/resource_measures.hpp"
#include "record/compare_terms.hpp"

namespace backplane {
namespace {

constexpr char kReturnOfTraining[] = "return", kReturnOfEvaluation[] = "eval/return", kRandomLearner[] = "random";
constexpr const char* kSpeeds[] = {"SPS", "wall_s"};  // a command has no SPS

bool HasMeasure(const Combined& combined, const std::string& name) {
  return std::ranges::any_of(combined.trials, [&](const CombinedTrial& trial) {
    return trial.data.Find(name) != nullptr || trial.data.not_finite.contains(name);
  });
}

bool Evaluates(const Combined& combined) {
  return HasMeasure(combined, kReturnOfEvaluation) || std::ranges::any_of(combined.configs, [](const nlohmann::json& config) {
           const nlohmann::json& episodes = At(At(config, "evaluation"), "episodes");
           return episodes.is_number() && episodes > 0;
         });
}

bool ActsAtRandom(const Combined& combined) {
  return !combined.trials.empty() && std::ranges::all_of(combined.trials, [](const CombinedTrial& trial) {
    return Text(trial.data.At("learner.plugin")) == kRandomLearner;
  });
}

std::optional<MeasureSpec> Directed(const std::string& text, std::optional<bool> maximize) {
  std::optional<MeasureSpec> measure = MeasureOfText(text);
  if (measure && maximize) measure->direction = *maximize ? 1 : -1;
  return measure;
}

std::optional<MeasureSpec> Speed(const Combined& combined) {
  const auto* const name = std::ranges::find_if(kSpeeds, [&](const char* speed) { return HasMeasure(combined, speed); });
  return name != std::end(kSpeeds) ? MeasureOfText(*name) : std::nullopt;
}

bool IsOfMachine(const MeasureSpec& column) {
  return std::ranges::any_of(column.expression.paths(), [](const std::string& name) {
    return FindHostMeasure(name) != nullptr || name.starts_with(resource_measure::kPrefix);
  });
}

// In the order in which they decide.
std::vector<MeasureSpec> NamedMeasures(const std::vector<ResultSet>& sets, const ComparisonSpec& spec) {
  std::vector<MeasureSpec> named;
  const auto add = [&](std::optional<MeasureSpec> measure) {
    if (measure) named.push_back(*std::move(measure));
  };
  for (const SelectSpec& select : spec.selections) named.push_back(select.metric);
  for (const ResultSet& set : sets)
    if (set.study && !set.study->method.empty()) add(Directed(set.study->metric, set.study->maximize));
  for (const ResultSet& set : sets) {
    const auto terms = ReadTolerantly<CompareTerms>(At(set.config, "compare"));
    if (terms.metric) add(Directed(*terms.metric, terms.direction ? std::optional(*terms.direction == "up") : std::nullopt));
  }
  return named;
}

}  // namespace

std::optional<MeasureSpec> NamedMeasure(const std::vector<ResultSet>& sets, const ComparisonSpec& spec) {
  const std::vector<MeasureSpec> named = NamedMeasures(sets, spec);
  return named.empty() ? std::nullopt : std::optional(named.front());
}

int DirectionInFile(const std::string& measure, const ReportSection& report, const std::vector<ResultSet>& sets) {
  std::vector<ReportError> reported_before;
  const ComparisonSpec spec = ReadComparisonSpec(report, &reported_before);
  std::vector<MeasureSpec> known = NamedMeasures(sets, spec);
  known.insert(known.end(), spec.columns.begin(), spec.columns.end());
  const auto gives = [&](const MeasureSpec& one) { return one.direction != 0 && one.expression.text() == measure; };
  const auto found = std::ranges::find_if(known, gives);
  return found != known.end() ? found->direction : 0;
}

bool AsksForReturn(const std::vector<ResultSet>& sets, const ReportSection& report) {
  std::vector<ReportError> errors;
  const std::optional<MeasureSpec> named = NamedMeasure(sets, ReadComparisonSpec(report, &errors));
  if (!named) return !report.timing && report.kind != "parallel_efficiency";
  return named->expression.text() == kReturnOfTraining || named->expression.text() == kReturnOfEvaluation;
}

bool Question::IsTimed() const {
  constexpr std::string_view kUnits[] = {"1/s", "s", "min"};
  return measure && std::ranges::any_of(measure->expression.paths(), [&](const std::string& name) {
           const HostMeasure* host = name == "cpu_s" ? nullptr : FindHostMeasure(name);
           return host != nullptr && std::ranges::find(kUnits, host->unit) != std::end(kUnits);
         });
}

Question QuestionOf(const std::vector<ResultSet>& sets, const Combined& combined, const ReportSection& report,
                    const ComparisonSpec& spec) {
  Question question{NamedMeasure(sets, spec), true};
  std::optional<MeasureSpec>& measure = question.measure;
  const int named_direction = measure ? measure->direction : 0;
  if (!measure && (report.timing || report.kind == "parallel_efficiency")) measure = Speed(combined);
  if (!measure && !combined.trials.empty())
    if (const auto until = GoalOfConfig(combined.trials.front().data.config)) measure = MeasureOfText(until->StepsMeasure());
  if (!measure && (Evaluates(combined) || HasMeasure(combined, kReturnOfTraining))) {
    measure = MeasureOfText(Evaluates(combined) ? kReturnOfEvaluation : kReturnOfTraining);
    question.has_best = !ActsAtRandom(combined);
  }
  const auto own = std::ranges::find_if(
      spec.columns, [](const MeasureSpec& column) { return column.direction != 0 && !IsOfMachine(column); });
  if (!measure && own != spec.columns.end()) measure = *own;
  if (!measure) measure = Speed(combined);
  if (!measure || !spec.selections.empty()) return question;
  for (const MeasureSpec& column : spec.columns) {
    if (column.expression.text() != measure->expression.text()) continue;
    measure = column;
    if (named_direction != 0) measure->direction = named_direction;
  }
  return question;
}

}  // namespace backplane
