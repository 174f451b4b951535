#include "kinds/search_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kinds/host_measures.hpp"
#include "record/finite_tail.hpp"
#include "text/format_number.hpp"
#include "text/short_names.hpp"

namespace backplane {
namespace {

// Adds the unit and direction that plugins and the host registered.
MeasureSpec MetricOfStudy(const Study& study, const Combined& combined) {
  std::optional<MeasureSpec> known = MeasureOfText(study.metric);
  if (!known) throw std::runtime_error(fmt::format("objective of the search: expected a measure, got '{}'", study.metric));
  MeasureSpec metric = std::move(*known);
  for (const CombinedTrial& trial : combined.trials) {
    const auto said = trial.data.registered.find(study.metric);
    if (said != trial.data.registered.end() && metric.unit.empty()) metric.unit = said->second.unit;
  }
  metric.title = MeasureWords(study.metric);
  metric.direction = study.maximize ? 1 : -1;
  return metric;
}

// As in the search (search/objective.hpp), a measure that only iterations have counts by its last value.
std::optional<double> ScoreOf(const TrialData& data, const MeasureSpec& metric) {
  const std::string& name = metric.expression.text();
  const auto curve = data.curves.find(name);
  const bool summed_up = name == "return" || name == "SPS" || name.starts_with("eval/") || name.starts_with("ep/");
  if (!summed_up && curve != data.curves.end() && !curve->second.empty()) {
    LastFinite last;
    for (const CurvePoint& point : curve->second) last.Add(point.value);
    return last.value();
  }
  const std::optional<nlohmann::json> value = EvaluateIn(data, metric.expression);
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

ConfirmedSetting ConfirmedOf(const StudyTrial& trial, const Combined& combined, const MeasureSpec& metric) {
  ConfirmedSetting confirmed{&trial, {}, trial.confirming.size(), 0};
  const std::optional<Goal> goal = metric.StepsGoal();
  for (const CombinedTrial& one : combined.trials) {
    const TrialData& data = one.data;
    if (std::find(trial.confirming.begin(), trial.confirming.end(), data.trial_id) == trial.confirming.end()) continue;
    confirmed.over += IsFinal(data.state) ? 1 : 0;
    const std::optional<double> score = data.usable() ? ScoreOf(data, metric) : std::nullopt;
    if (!score || !std::isfinite(*score)) continue;
    confirmed.values.push_back(*score);
    const Number* reached = goal ? data.Find(goal->ReachedMeasure()) : nullptr;
    if (goal) confirmed.reached.push_back(reached != nullptr && reached->value == 1);
  }
  return confirmed;
}

double MeanScore(const ConfirmedSetting& one) { return Mean(one.values, "seeds").value; }

}  // namespace

std::string NumberName(const StudyTrial& trial) { return fmt::format("number {}", trial.number); }

const StudyTrial* SearchParts::Best() const {
  if (!is_confirmed || confirmed.empty()) return study.Best();
  return confirmed.front().is_eligible() ? confirmed.front().trial : nullptr;
}

const ConfirmedSetting* SearchParts::Confirmed(const StudyTrial& trial) const {
  for (const ConfirmedSetting& one : confirmed)
    if (one.trial == &trial && !one.values.empty()) return &one;
  return nullptr;
}

std::string SearchParts::Value(double value) const { return FormatNumber(Reading(value), metric.digits); }
std::string SearchParts::Value(const ConfirmedSetting& one) const {
  return FormatNumber(Mean(one.values, "seeds"), metric.digits);
}

std::string SearchParts::Said(const std::string& path, const nlohmann::json& value) const {
  const auto option = std::find_if(study.space.begin(), study.space.end(), [&](const auto& one) { return one.path == path; });
  const bool is_choice = option != study.space.end() && option->is_choice();
  return value.is_number() && !is_choice ? FormatNumber(Reading(value.get<double>()), 3) : ChoiceWords(value);
}

std::string SearchParts::Setting(const StudyTrial& trial) const {
  std::vector<std::string> words;
  for (const SearchedOption& option : study.space)
    if (trial.params.contains(option.path))
      words.push_back(names.at(option.path) + " " + Said(option.path, trial.params.at(option.path)));
  return fmt::format("{}", fmt::join(words, ", "));
}

void CountTrialsAtTheirEnd(const Combined& combined, Study* study) {
  const std::optional<MeasureSpec> metric = MeasureOfText(study->metric);
  for (StudyTrial& trial : study->trials) {
    if (!trial.came_to_end || !metric) continue;
    for (const CombinedTrial& one : combined.trials) {
      if (std::ranges::find(trial.trials, one.data.trial_id) == trial.trials.end() || !one.data.usable()) continue;
      const std::optional<double> score = ScoreOf(one.data, *metric);
      if (!score || !std::isfinite(*score)) continue;
      trial.state = StudyState::kComplete;
      trial.value = score;
    }
  }
}

SearchParts PartsOf(const Study& study, const Combined& combined) {
  SearchParts parts{study, combined, MetricOfStudy(study, combined), {}, {}, false, false};
  std::vector<std::string> paths;
  for (const SearchedOption& option : study.space) paths.push_back(option.path);
  const std::vector<std::string> names = ShortNames(paths, {"number", "state", "value", "trials", "x", "place"});
  for (size_t i = 0; i < paths.size(); ++i) parts.names[paths[i]] = names[i];
  std::vector<std::string> seen;  // several suggestions may be of one point
  for (const StudyTrial& trial : study.trials) {
    if (trial.confirming.empty() || std::find(seen.begin(), seen.end(), trial.point_id) != seen.end()) continue;
    seen.push_back(trial.point_id);
    parts.confirmed.push_back(ConfirmedOf(trial, combined, parts.metric));
  }
  parts.confirms = !parts.confirmed.empty();
  parts.is_confirmed = parts.confirms && std::all_of(parts.confirmed.begin(), parts.confirmed.end(),
                                                     [](const ConfirmedSetting& one) { return one.over == one.seeds; });
  std::stable_sort(parts.confirmed.begin(), parts.confirmed.end(), [&](const ConfirmedSetting& a, const ConfirmedSetting& b) {
    if (a.is_eligible() != b.is_eligible()) return a.is_eligible();
    if (a.values.empty() || b.values.empty()) return !a.values.empty() && b.values.empty();
    return study.IsBetter(MeanScore(a), MeanScore(b));
  });
  return parts;
}

}  // namespace backplane
