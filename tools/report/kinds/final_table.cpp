#include "kinds/final_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "kinds/comparison_points.hpp"
#include "record/best_measures.hpp"
#include "record/trial_names.hpp"
#include "results/reduction.hpp"

namespace backplane {
namespace {

constexpr double kLongInSeconds_s = 600;  // what takes longer is given in minutes

using Point = std::vector<const TrialData*>;  // its trials

std::vector<Point> PointsIn(const ResultSet& set) {
  std::vector<Point> points;
  for (const TrialData& trial : set.trials) {
    const auto same = std::find_if(points.begin(), points.end(),
                                   [&](const Point& point) { return point.front()->point_id == trial.point_id; });
    (same == points.end() ? points.emplace_back() : *same).push_back(&trial);
  }
  return points;
}

bool IsMeasured(const ResultSet& set, const std::string& name) {
  return std::any_of(set.trials.begin(), set.trials.end(), [&](const TrialData& trial) {
    return trial.usable() && (trial.Find(name) != nullptr || trial.not_finite.contains(name));
  });
}

// "return" and "ep/NAME" are repeated by the evaluation as "eval/return" and "eval/NAME".
std::string Evaluated(const ResultSet& set, const std::string& name) {
  std::string evaluated;
  if (name == "return") evaluated = "eval/return";
  if (name.starts_with("ep/")) evaluated = "eval/" + name.substr(3);
  return !evaluated.empty() && IsMeasured(set, evaluated) ? evaluated : name;
}

std::optional<Number> ValueOf(const Point& point, const std::string& name) {
  std::vector<Number> of_trials;
  for (const TrialData* trial : point) {
    const Number* number = trial->usable() ? trial->Find(name) : nullptr;
    if (number != nullptr) of_trials.push_back(*number);
  }
  return OverSeeds(of_trials);
}

// "COMPLETED", "3 COMPLETED, 1 FAILED", "PLANNED, stopped after iteration 3".
std::string StateOf(const Point& point) {
  std::vector<std::pair<TrialState, size_t>> states;
  for (const TrialData* trial : point) {
    const auto same = std::find_if(states.begin(), states.end(), [&](const auto& one) { return one.first == trial->state; });
    ++(same == states.end() ? states.emplace_back(trial->state, 0) : *same).second;
  }
  if (states.size() == 1) {
    const Number* iterations = point.front()->state == TrialState::kPlanned ? point.front()->Find("iterations") : nullptr;
    return Word(states[0].first) +
           (point.size() == 1 && iterations != nullptr ? fmt::format(", stopped after iteration {:g}", iterations->value) : "");
  }
  std::string text;
  for (const auto& [state, n] : states) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, Word(state));
  return text;
}

bool TakesLong(const ResultSet& set) {
  return std::any_of(set.trials.begin(), set.trials.end(), [](const TrialData& trial) {
    const Number* seconds = trial.Find("wall_s");
    return seconds != nullptr && seconds->value > kLongInSeconds_s;
  });
}

// As on the live screen: without what all share.
std::vector<std::string> NamesOf(const std::vector<Point>& points) {
  std::vector<PlanLine> lines(points.size());
  for (size_t i = 0; i < points.size(); ++i) lines[i].name = PointName(*points[i].front());
  return ShortTrialNames(lines);
}

// A point one of whose runs diverged, failed or is missing is never the best.
bool IsEligible(const Point& point, const std::string& name) {
  return std::all_of(point.begin(), point.end(), [&](const TrialData* trial) {
    const Number* number = trial->usable() ? trial->Find(name) : nullptr;
    return number != nullptr && std::isfinite(number->value);
  });
}

// "not finite" if a run reported the measure, but never a finite value. "never" if no run reached the goal.
Cell CellOf(const Point& point, const std::string& name) {
  const std::optional<Goal> goal = GoalOfMeasure(name);
  if (goal && ValueOf(point, goal->ReachedMeasure()).value_or(Reading(1)).value == 0) return Cell{"never"};
  if (const std::optional<Number> value = ValueOf(point, name)) return *value;
  const bool reported = std::any_of(
      point.begin(), point.end(), [&](const TrialData* trial) { return trial->usable() && trial->not_finite.contains(name); });
  return reported ? Cell{"not finite"} : Cell{};
}

// Then the others with a value, then points without one, in the order of the plan.
void PutBestFirst(Table* table, size_t column, int direction, const std::vector<char>& eligible) {
  const auto key = [&](size_t row) {
    const Number* number = NumberAt(table->rows[row], column);
    const bool has_value = number != nullptr && std::isfinite(number->value);
    return std::tuple(eligible[row] != 0, has_value, has_value ? direction * number->value : 0.0);
  };
  std::vector<size_t> order(table->rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  std::vector<std::vector<Cell>> sorted;
  for (const size_t row : order) sorted.push_back(std::move(table->rows[row]));
  table->rows = std::move(sorted);
}

// An expression, or a reduction of a curve, becomes a measure of each trial.
void AddToTrials(const MeasureSpec& measure, ResultSet* set) {
  Combined combined = Combine({*set});
  AddReductions(measure.expression.paths(), &combined);
  for (size_t t = 0; t < combined.trials.size(); ++t)
    if (const auto number = MeasureOf(combined, {"", 0, {t}}, measure.expression))
      for (TrialData& trial : set->trials)
        if (trial.trial_id == combined.trials[t].data.trial_id) trial.measures[measure.expression.text()] = *number;
}

// Drops the column of states if all rows are completed.
void LeaveOutStates(Table* table) {
  const auto completed = [](const auto& row) { return std::get<std::string>(row[1]) == Word(TrialState::kCompleted); };
  if (!std::ranges::all_of(table->rows, completed)) return;
  table->columns.erase(table->columns.begin() + 1);
  for (auto& row : table->rows) row.erase(row.begin() + 1);
}

}  // namespace

Table FinalTable(ResultSet set, const std::vector<std::string>& live, const Question& question) {
  if (question.measure) AddToTrials(*question.measure, &set);
  Table table{"final", "", {{"point", "point", "", ""}, {"state", "state", "", ""}}, {}, {}, {}};
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::string& title, const std::string& unit) {
    if (!IsMeasured(set, name) || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
    table.columns.push_back({name, title, unit, ""});
  };
  const std::string learned = Evaluated(set, "return");
  const std::string decides = question.measure ? question.measure->expression.text() : learned;
  if (decides == "SPS")
    add("SPS", "steps/s", "");
  else if (question.measure)
    add(decides, question.measure->title, question.measure->unit);
  add(learned, learned, "");
  for (const auto& [name, number] : set.trials.empty() ? std::map<std::string, Number>() : set.trials.front().measures)
    if (name.starts_with(kBestPrefix)) add(name, name, "");
  for (const std::string& asked : live) {
    const std::string name = Evaluated(set, asked);
    add(name, name, "");
  }
  add("SPS", "steps/s", "");
  if (TakesLong(set)) {
    add("minutes", "time", "min");
  } else {
    add("wall_s", "time", "s");
  }
  const std::vector<Point> points = PointsIn(set);
  const std::vector<std::string> short_names = NamesOf(points);
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<Cell> row{short_names[i], StateOf(points[i])};
    for (const std::string& name : names) row.push_back(CellOf(points[i], name));
    table.rows.push_back(std::move(row));
  }
  std::vector<char> may_be_best;
  for (const Point& point : points) may_be_best.push_back(IsEligible(point, decides) ? 1 : 0);
  const int direction = question.measure ? question.measure->direction : 1;
  if (IsMeasured(set, decides) && question.has_best) PutBestFirst(&table, 2, direction, may_be_best);
  LeaveOutStates(&table);
  return table;
}

}  // namespace backplane
