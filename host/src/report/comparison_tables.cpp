#include "report/comparison_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/suggest.hpp"

namespace backplane {
namespace {

std::string Key(const std::string& title) {
  std::string key;
  for (char c : title) key += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
  return key;
}

void AddTrials(const ComparisonParts& parts, const ComparedPoint& point, size_t index, std::vector<Cell>* row) {
  double usable = 0;
  std::string ids, remark = index == parts.baseline ? "baseline" : "";
  if (parts.chosen == index) remark += remark.empty() ? "selected" : ", selected";
  for (size_t t : point.trials) {
    const TrialData& trial = parts.combined.trials[t].data;
    ids += (ids.empty() ? "" : " ") + trial.trial_id;
    if (trial.usable()) {
      usable += 1;
    } else {
      remark += fmt::format("{}{}{}", remark.empty() ? "" : "; ", trial.state,
                            trial.outcome.empty() ? "" : " (" + trial.outcome + ")");
    }
  }
  row->push_back(Reading(usable));
  row->push_back(remark);
  row->push_back(ids);
}

// Names in columns that no trial knows: probably a slip of the pen.
std::vector<std::string> NeverMeasured(const ComparisonParts& parts) {
  std::set<std::string> known;
  for (const CombinedTrial& trial : parts.combined.trials) {
    for (const auto& [name, number] : trial.data.measures) known.insert(name);
  }
  std::vector<std::string> sentences;
  std::set<std::string> said;
  for (const MeasureSpec& measure : parts.spec.columns) {
    for (const std::string& name : measure.expression.paths()) {
      const bool there = std::any_of(parts.combined.trials.begin(), parts.combined.trials.end(),
                                     [&](const CombinedTrial& trial) { return ValueIn(trial.data, name).has_value(); });
      if (there || !said.insert(name).second) continue;
      const std::string hint = DidYouMean(Nearest(name, Candidates(std::vector<std::string>(known.begin(), known.end()))));
      sentences.push_back(fmt::format("No trial measured '{}'{}", name, hint.empty() ? "." : hint));
    }
  }
  return sentences;
}

}  // namespace

Table ComparisonResults(const ComparisonParts& parts) {
  Table table{"results", "Points side by side", {{"point", "point", "", ""}}, {}, {}, {}};
  if (parts.combined.groups.size() > 1) table.columns.push_back({"machine", "machine", "", ""});
  for (const MeasureSpec& measure : parts.spec.columns)
    table.columns.push_back(
        {Key(measure.title), measure.title, measure.unit, measure.expression.text(), measure.direction, measure.digits});
  table.columns.push_back({"n", "seeds", "", "usable trials"});
  table.columns.push_back({"remark", "remark", "", ""});
  table.columns.push_back({"trials", "trials", "", "ids, one for each seed", 0, 4, false});
  for (size_t i = 0; i < parts.points.size(); ++i) {
    const ComparedPoint& point = parts.points[i];
    std::vector<Cell> row{point.name};
    if (parts.combined.groups.size() > 1) row.emplace_back(parts.combined.groups[point.group].label);
    for (const MeasureSpec& measure : parts.spec.columns) {
      const auto value = MeasureOf(parts.combined, point, measure.expression);
      row.push_back(value ? Cell{*value} : Cell{});
    }
    AddTrials(parts, point, i, &row);
    table.rows.push_back(std::move(row));
  }
  if (parts.chosen) table.emphasised = {*parts.chosen};
  for (const std::string& missing : NeverMeasured(parts)) table.notes.push_back(missing);
  return table;
}

Table ComparisonChanges(const ComparisonParts& parts) {
  Table table{"change", fmt::format("Against {}", parts.points[*parts.baseline].name), {{"point", "point", "", ""}}, {}, {},
              {}};
  for (const MeasureSpec& measure : parts.spec.columns) {
    table.columns.push_back({Key(measure.title), measure.title, "", "ratio to the baseline", measure.direction, 3});
  }
  for (size_t i = 0; i < parts.points.size(); ++i) {
    if (i == *parts.baseline) continue;
    std::vector<Cell> row{parts.points[i].name};
    for (const MeasureSpec& measure : parts.spec.columns) {
      const auto base = MeasureOf(parts.combined, parts.points[*parts.baseline], measure.expression);
      const auto value = MeasureOf(parts.combined, parts.points[i], measure.expression);
      row.push_back(base && value && base->value > 0 ? Cell{RatioOf(*value, *base)} : Cell{});
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      "Ratios, 1 = as the baseline; the relative half widths of both intervals add up as squares. Where the baseline is not "
      "above zero there is no ratio."};
  return table;
}

}  // namespace backplane
