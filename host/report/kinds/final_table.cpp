#include "kinds/final_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backplane {
namespace {

constexpr double kLongInSeconds_s = 600;  // what takes longer is given in minutes

using Point = std::vector<const TrialData*>;  // its trials

std::vector<Point> PointsOf(const ResultSet& set) {
  std::vector<Point> points;
  for (const TrialData& trial : set.trials) {
    const auto same = std::find_if(points.begin(), points.end(),
                                   [&](const Point& point) { return point.front()->point_id == trial.point_id; });
    (same == points.end() ? points.emplace_back() : *same).push_back(&trial);
  }
  return points;
}

bool IsMeasured(const ResultSet& set, const std::string& name) {
  return std::any_of(set.trials.begin(), set.trials.end(),
                     [&](const TrialData& trial) { return trial.usable() && trial.Find(name) != nullptr; });
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

}  // namespace

Table FinalTable(const ResultSet& set, const std::vector<std::string>& live) {
  Table table{"final", "", {{"point", "point", "", ""}, {"state", "state", "", ""}}, {}, {}, {}};
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::string& title, const std::string& unit) {
    if (!IsMeasured(set, name) || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
    table.columns.push_back({name, title, unit, ""});
  };
  const std::string learned = Evaluated(set, "return");
  add(learned, learned, "");
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
  for (const Point& point : PointsOf(set)) {
    std::vector<Cell> row{PointName(*point.front()), StateOf(point)};
    for (const std::string& name : names) {
      const std::optional<Number> value = ValueOf(point, name);
      row.push_back(value ? Cell{*value} : Cell{});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace backplane
