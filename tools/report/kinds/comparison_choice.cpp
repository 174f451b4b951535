#include "kinds/comparison_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.hpp"
#include "kinds/comparison_scores.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class Chooser {
 public:
  Chooser(const Combined& combined, const std::vector<ComparedPoint>& points, size_t group)
      : combined_(combined), points_(points), scoring_(combined, points), group_(group) {}

  // A point that several fit is none in particular: the first with a result.
  void ChooseBaseline(const json& wanted, GroupChoice* choice) const {
    if (wanted.is_null()) return;
    bool there = false;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].group != group_ || !IsWanted(points_[i], wanted)) continue;
      there = true;
      if (!IsUsable(combined_, points_[i])) continue;
      choice->baseline = i;
      return;
    }
    const std::string name = wanted.is_string() ? wanted.get<std::string>() : JsonText(wanted);
    const std::string where = combined_.groups.size() > 1 ? " of " + combined_.groups[group_].label : "";
    choice->baseline_note =
        there ? fmt::format("The baseline {}{} has no result, so the points are not compared with it.", name, where)
              : fmt::format("The baseline {} is not among the points{}.", name, where);
  }

  std::vector<ExcludedPoint> Excluded(const SelectSpec& select) const {
    std::vector<ExcludedPoint> excluded;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].group != group_) continue;
      if (std::string why = scoring_.Ineligible(i, select.metric); !why.empty()) excluded.push_back({i, std::move(why)});
    }
    return excluded;
  }

  std::optional<size_t> Best(const SelectSpec& select) const {
    std::optional<size_t> best;
    double best_value = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].group != group_ || !scoring_.Ineligible(i, select.metric).empty() || !IsAdmitted(points_[i], select))
        continue;
      const auto value = scoring_.Value(i, select.metric);
      if (!value || !std::isfinite(value->value)) continue;
      if (!best || (select.maximize() ? value->value > best_value : value->value < best_value)) {
        best = i;
        best_value = value->value;
      }
    }
    return best;
  }

 private:
  bool IsWanted(const ComparedPoint& point, const json& wanted) const {
    const TrialData& trial = combined_.trials[point.trials.front()].data;
    if (wanted.is_string()) return PointName(trial) == wanted.get<std::string>();
    if (!wanted.is_object()) return false;
    const auto& values = wanted.items();
    return std::all_of(values.begin(), values.end(), [&](const auto& one) { return trial.At(one.key()) == one.value(); });
  }

  bool IsAdmitted(const ComparedPoint& point, const SelectSpec& select) const {
    if (!select.where) return true;
    return std::all_of(point.trials.begin(), point.trials.end(), [&](size_t t) {
      const TrialData& trial = combined_.trials[t].data;
      const std::optional<json> value = EvaluateIn(trial, *select.where);
      return value && value->is_boolean() && value->get<bool>();
    });
  }

  const Combined& combined_;
  const std::vector<ComparedPoint>& points_;
  const Scoring scoring_;
  const size_t group_;
};

}  // namespace

bool IsUsable(const Combined& combined, const ComparedPoint& point) {
  return std::any_of(point.trials.begin(), point.trials.end(), [&](size_t t) { return combined.trials[t].data.usable(); });
}

std::vector<GroupChoice> ChooseInGroups(const Combined& combined, const std::vector<ComparedPoint>& points,
                                        const std::vector<SelectSpec>& selections, const json& baseline) {
  std::vector<GroupChoice> choices(combined.groups.size());
  for (size_t group = 0; group < choices.size(); ++group) {
    const Chooser chooser(combined, points, group);
    chooser.ChooseBaseline(baseline, &choices[group]);
    for (const SelectSpec& select : selections) {
      choices[group].chosen.push_back(chooser.Best(select));
      choices[group].excluded.push_back(chooser.Excluded(select));
    }
  }
  return choices;
}

}  // namespace backplane
