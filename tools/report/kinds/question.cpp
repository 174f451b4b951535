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

}  // namespace

std::optional<MeasureSpec> NamedMeasure(const std::vector<ResultSet>& sets, const ComparisonSpec& spec) {
  if (!spec.selections.empty()) return spec.selections.front().metric;
  for (const ResultSet& set : sets)
    if (set.study && !set.study->method.empty()) return Directed(set.study->metric, set.study->maximize);
  for (const ResultSet& set : sets) {
    const auto terms = ReadTolerantly<CompareTerms>(At(set.config, "compare"));
    if (terms.metric) return Directed(*terms.metric, terms.direction ? std::optional(*terms.direction == "up") : std::nullopt);
  }
  return std::nullopt;
}

bool AsksForReturn(const std::vector<ResultSet>& sets, const ReportSection& report) {
  std::vector<ReportError> errors;
  const std::optional<MeasureSpec> named = NamedMeasure(sets, ReadComparisonSpec(report, &errors));
  if (!named) return !report.timing && report.kind != "parallel_efficiency";
  return named->expression.text() == kReturnOfTraining || named->expression.text() == kReturnOfEvaluation;
}

Question QuestionOf(const std::vector<ResultSet>& sets, const Combined& combined, const ReportSection& report,
                    const ComparisonSpec& spec) {
  Question question{NamedMeasure(sets, spec), true};
  std::optional<MeasureSpec>& measure = question.measure;
  const int named_direction = measure ? measure->direction : 0;
  if (!measure && (report.timing || report.kind == "parallel_efficiency")) measure = Speed(combined);
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
