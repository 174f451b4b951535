#include "kinds/figure_axes.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "kinds/comparison_spec.hpp"

namespace backplane {

std::string AxisLabel(const std::string& against, bool of_commands) {
  if (const auto name = SumAxis(against)) return *name + " so far";
  if (against == "time_s") return "seconds";
  if (against == "iteration") return "iteration";
  return of_commands ? "steps" : "environment steps";
}

std::vector<double> Places(const TrialData& trial, const std::vector<CurvePoint>& curve, const std::string& against) {
  const auto name = SumAxis(against);
  const auto other = name ? trial.curves.find(*name) : trial.curves.end();
  std::vector<double> places;
  if (name && other == trial.curves.end()) return places;
  double sum = 0;
  size_t summed = 0;
  for (const CurvePoint& point : curve) {
    for (; name && summed < other->second.size() && other->second[summed].iteration <= point.iteration; ++summed) {
      sum += other->second[summed].value;
    }
    places.push_back(name                     ? sum
                     : against == "time_s"    ? point.time_s
                     : against == "iteration" ? static_cast<double>(point.iteration)
                                              : point.env_steps);
  }
  return places;
}

bool IsBest(const Table& table, size_t column, size_t row, const std::vector<size_t>& rivals) {
  const Column& about = table.columns[column];
  const auto number = [&](size_t of) {
    const Number* found = std::get_if<Number>(&table.rows[of][column]);
    return found != nullptr && std::isfinite(found->value) ? found : nullptr;
  };
  if (about.direction == 0 || number(row) == nullptr || rivals.empty()) return false;
  return std::all_of(rivals.begin(), rivals.end(), [&](size_t other) {
    if (number(other) == nullptr) return true;
    return about.direction * (number(row)->value - number(other)->value) > 0 &&
           FormatCell(table.rows[other][column], about) != FormatCell(table.rows[row][column], about);
  });
}

}  // namespace backplane
