#include "kinds/comparison_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/suggest.hpp"
#include "kinds/change.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/sections.hpp"
#include "machine/resource_measures.hpp"
#include "results/reduction.hpp"
#include "statistics/difference.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

void AddRemark(const std::string& separator, const std::string& text, std::string* remark) {
  if (!text.empty()) *remark += (remark->empty() ? "" : separator) + text;
}

std::string StateText(const TrialData& trial) {
  return fmt::format("{}{}", Word(trial.state), trial.outcome ? fmt::format(" ({})", Word(trial.outcome)) : "");
}

void AddTrials(const ComparisonParts& parts, const ComparedPoint& point, size_t index, std::vector<Cell>* row) {
  const GroupChoice& choice = parts.choices[point.group];
  double usable = 0;
  std::string ids, remark = index == choice.baseline ? "baseline" : "";
  const std::vector<SelectSpec>& selections = parts.spec.selections;
  const auto by = [&](size_t s) { return selections.size() > 1 ? " by " + selections[s].metric.title : std::string(); };
  for (size_t s = 0; s < selections.size(); ++s)
    if (choice.chosen[s] == index) AddRemark(", ", "selected" + by(s), &remark);
  for (size_t t : point.trials) {
    const TrialData& trial = parts.combined.trials[t].data;
    ids += (ids.empty() ? "" : " ") + trial.trial_id;
    if (trial.usable()) {
      usable += 1;
    } else {
      AddRemark("; ", StateText(trial), &remark);
    }
  }
  for (size_t s = 0; s < selections.size(); ++s)
    for (const ExcludedPoint& excluded : choice.excluded[s])
      if (excluded.point == index) AddRemark("; ", fmt::format("not eligible{}: {}", by(s), excluded.why), &remark);
  AddRemark("; ", parts.scoring.Remark(index, parts.columns), &remark);
  row->push_back(Reading(usable));
  row->push_back(remark);
  row->push_back(ids);
}

// Columns that make a file of results readable without the page.
const std::vector<Column>& BackgroundColumns() {
  static const auto hidden = [](const char* name, const char* what) { return Column{name, name, "", what, 0, 4, false}; };
  static const std::vector<Column> kColumns = {hidden("seed", "of each trial"),
                                               hidden("status", "of each trial"),
                                               hidden("resumed", "trials that resumed from a checkpoint"),
                                               hidden("host", "the machine's name"),
                                               hidden("cpu", "the machine's processor"),
                                               hidden("cpu_flags", "flags that change the speed of numerics"),
                                               hidden("torch_version", "version of LibTorch"),
                                               hidden("version", "version of Backplane")};
  return kColumns;
}

void AddBackground(const ComparisonParts& parts, const ComparedPoint& point, std::vector<Cell>* row) {
  std::string seeds, states;
  double resumed = 0;
  for (size_t t : point.trials) {
    const TrialData& trial = parts.combined.trials[t].data;
    const char* gap = seeds.empty() ? "" : " ";
    seeds += gap + std::to_string(trial.seed);
    states += std::string(gap) + Word(trial.state);
    resumed += trial.resumed ? 1 : 0;
  }
  row->insert(row->end(), {seeds, states, Reading(resumed)});
  const RunInfo& run = parts.combined.groups[point.group].run;
  row->insert(row->end(), {run.host.hostname, run.host.cpu, run.host.cpu_flags, run.versions.torch, run.versions.backplane});
}

// Names for CSV and JSON, each once: "eval/return" and "eval_return" must not share their columns, and "SPS n" must not be
// taken for the n of SPS.
class Keys {
 public:
  Keys() {
    for (const char* own : {"point", "machine", "n", "remark", "trials"}) taken_.insert(own);
    for (const Column& column : BackgroundColumns()) taken_.insert(column.key);
  }

  std::string Of(const std::string& title) {
    std::string key;
    for (char c : title) key += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
    std::string unique = key;
    for (size_t number = 2; !IsFree(unique); ++number) unique = fmt::format("{}_{}", key, number);
    for (const char* part : kParts) taken_.insert(unique + part);
    return unique;
  }

 private:
  static constexpr const char* kParts[] = {"", "_low", "_high", "_sd", "_p95", "_max", "_n"};  // as in RenderCsv
  bool IsFree(const std::string& key) const {
    return std::none_of(std::begin(kParts), std::end(kParts), [&](const char* part) { return taken_.contains(key + part); });
  }

  std::set<std::string> taken_;
};

bool IsMeasured(const Combined& combined, const std::string& name) {
  return std::any_of(combined.trials.begin(), combined.trials.end(), [&](const CombinedTrial& trial) {
    return ValueIn(trial.data, name).has_value() || trial.data.not_finite.contains(name);
  });
}

// True if the host or a resource sampler measures this name if the machine allows it.
bool IsDeclared(const std::string& name) { return FindHostMeasure(name) != nullptr || resource_measure::IsKnown(name); }

// True if a plugin or the host registered this name in a trial, even without a value.
bool IsRegistered(const Combined& combined, const std::string& name) {
  const auto reduced = SplitReducedName(name);
  const std::string& curve = reduced ? reduced->curve : name;
  return std::any_of(combined.trials.begin(), combined.trials.end(),
                     [&](const CombinedTrial& trial) { return trial.data.registered.contains(curve); });
}

// Names that no trial has a value for: declared ones ("no GPU: vram_peak_mb left out"), others are probably slips of the pen.
std::vector<std::string> NeverMeasured(const ComparisonParts& parts) {
  std::set<std::string> known;
  for (const CombinedTrial& trial : parts.combined.trials) {
    for (const auto& [name, number] : trial.data.measures) known.insert(name);
  }
  std::vector<std::string> sentences, of_gpu, others;
  std::set<std::string> said;
  for (const auto& [name, path] : NamesIn(parts.spec)) {
    if (IsMeasured(parts.combined, name) || !said.insert(name).second) continue;
    if (IsDeclared(name)) {
      (resource_measure::IsOfGpu(name) ? of_gpu : others).push_back(name);
      continue;
    }
    if (IsRegistered(parts.combined, name)) continue;
    const std::string hint = DidYouMean(Nearest(name, Candidates(std::vector<std::string>(known.begin(), known.end()))));
    sentences.push_back(fmt::format("No trial measured '{}'{}", name, hint.empty() ? "." : hint));
  }
  const bool granted = std::any_of(parts.combined.trials.begin(), parts.combined.trials.end(),
                                   [](const CombinedTrial& trial) { return trial.data.gpus > 0; });
  if (!of_gpu.empty())
    sentences.push_back(fmt::format("{}: {} left out.", granted ? "No GPU data" : "No GPU", fmt::join(of_gpu, ", ")));
  if (!others.empty()) sentences.push_back(fmt::format("Not measured: {} left out.", fmt::join(others, ", ")));
  return sentences;
}

std::vector<MeasureSpec> MainColumns(const ComparisonParts& parts) {
  std::vector<MeasureSpec> columns = parts.columns;
  std::erase_if(columns, [](const MeasureSpec& column) { return column.detail; });
  return columns;
}

// By those seeds that both have.
std::optional<statistics::Difference> Paired(const SeedScores& point, const SeedScores& base) {
  std::vector<double> of_point, of_base;
  for (size_t i = 0; i < point.seeds.size(); ++i) {
    const auto same = std::find(base.seeds.begin(), base.seeds.end(), point.seeds[i]);
    if (same == base.seeds.end()) continue;
    of_point.push_back(point.values[i]);
    of_base.push_back(base.values[static_cast<size_t>(same - base.seeds.begin())]);
  }
  return statistics::PairedDifference(of_point, of_base);
}

// `n`: of the side with fewer seeds, or of pairs.
Number DifferenceCell(double value, const std::optional<statistics::Difference>& difference, size_t n) {
  Number number = Reading(value);
  if (!difference) return number;
  number.n = n;
  number.of = "seeds";
  number.low = difference->low;
  number.high = difference->high;
  return number;
}

Cell MeasureCell(const ComparisonParts& parts, size_t index, const MeasureSpec& measure) {
  const SeedScores scores = parts.scoring.Scores(index, measure);
  if (!scores.HasOwn()) return "diverged";
  if (const auto value = parts.scoring.Value(index, measure)) return *value;
  if (const auto words = WordsOf(parts.combined, parts.points[index], measure.expression)) return *words;
  return parts.scoring.IsNeverFinite(index, measure) ? Cell{"not finite"} : Cell{};
}

}  // namespace

Number DifferenceFrom(const ComparisonParts& parts, size_t point, size_t baseline, const MeasureSpec& measure) {
  const SeedScores scores = parts.scoring.Scores(point, measure), base = parts.scoring.Scores(baseline, measure);
  return DifferenceCell(parts.scoring.Value(point, measure)->value - parts.scoring.Value(baseline, measure)->value,
                        scores.DifferenceFrom(base), std::min(scores.values.size(), base.values.size()));
}

bool IsLeftOut(const MeasureSpec& column, const Combined& combined) {
  const auto& names = column.expression.paths();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return IsDeclared(name) && !IsMeasured(combined, name); });
}

Table ComparisonResults(const ComparisonParts& parts) {
  Table table{"results", "Points side by side", {{"point", "point", "", ""}}, {}, {}, {}};
  if (parts.combined.groups.size() > 1) table.columns.push_back({"machine", "machine", "", ""});
  Keys keys;
  for (const MeasureSpec& measure : parts.columns)
    table.columns.push_back({keys.Of(measure.title), measure.title, measure.unit, measure.expression.text(), measure.direction,
                             measure.digits, !measure.detail});
  table.columns.push_back({"n", "seeds", "", "usable trials"});
  table.columns.push_back({"remark", "remark", "", ""});
  table.columns.push_back({"trials", "trials", "", "ids, one per seed", 0, 4, false, TrialsFolder(parts.combined)});
  table.columns.insert(table.columns.end(), BackgroundColumns().begin(), BackgroundColumns().end());
  for (size_t i = 0; i < parts.points.size(); ++i) {
    const ComparedPoint& point = parts.points[i];
    std::vector<Cell> row{PointName(parts.combined.trials[point.trials.front()].data)};
    if (parts.combined.groups.size() > 1) row.emplace_back(parts.combined.groups[point.group].label);
    for (const MeasureSpec& measure : parts.columns) row.push_back(MeasureCell(parts, i, measure));
    AddTrials(parts, point, i, &row);
    AddBackground(parts, point, &row);
    table.rows.push_back(std::move(row));
  }
  for (const GroupChoice& choice : parts.choices) {
    if (!choice.chosen.empty() && choice.chosen[0]) table.emphasised.push_back(*choice.chosen[0]);
  }
  std::sort(table.emphasised.begin(), table.emphasised.end());
  for (const std::string& missing : NeverMeasured(parts)) table.notes.push_back(missing);
  return table;
}

std::optional<Table> ComparisonChanges(const ComparisonParts& parts) {
  std::vector<std::string> baselines;
  for (const GroupChoice& choice : parts.choices) {
    if (choice.baseline) baselines.push_back(parts.points[*choice.baseline].name);
  }
  Table table{"change", fmt::format("Against {}", fmt::join(baselines, ", ")), {{"point", "point", "", ""}}, {}, {}, {}};
  Keys keys;
  for (const MeasureSpec& measure : MainColumns(parts)) {
    if (measure.in_ratios)
      table.columns.push_back({keys.Of(measure.title), measure.title, "", "ratio to the baseline", measure.direction, 3});
    else
      table.columns.push_back({keys.Of(measure.title + " difference"), measure.title + " minus the baseline's", measure.unit,
                               "value minus the value of the baseline, with Welch's 95 % interval", measure.direction, 3});
  }
  for (size_t i = 0; i < parts.points.size(); ++i) {
    const std::optional<size_t> baseline = parts.choices[parts.points[i].group].baseline;
    if (!baseline || i == *baseline) continue;
    std::vector<Cell> row{parts.points[i].name};
    for (const MeasureSpec& measure : MainColumns(parts)) {
      const auto base = parts.scoring.Value(*baseline, measure), value = parts.scoring.Value(i, measure);
      row.push_back(!base || !value     ? Cell{}
                    : measure.in_ratios ? Cell{RatioOf(*value, *base)}
                                        : Cell{DifferenceFrom(parts, i, *baseline, measure)});
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes = {
      "Ratios; 1: equal to the baseline. Intervals come from the spread of the logarithms over seeds. If a value, "
      "or part of the baseline's interval, is zero or below, the column contains differences."};
  return table;
}

namespace {

std::optional<std::vector<Cell>> ImprovementRow(const ComparisonParts& parts, size_t point, size_t baseline,
                                                const MeasureSpec& measure, const std::string& verdict) {
  const auto base = parts.scoring.Value(baseline, measure);
  const auto value = parts.scoring.Value(point, measure);
  if (!base || !value) return std::nullopt;
  const SeedScores of_point = parts.scoring.Scores(point, measure), of_base = parts.scoring.Scores(baseline, measure);
  const std::optional<statistics::Difference> paired = Paired(of_point, of_base);
  const auto cell = [&](const Number& number) { return Cell{FormatNumber(number, measure.digits)}; };
  const size_t fewer = std::min(of_point.values.size(), of_base.values.size());
  return std::vector<Cell>{
      parts.points[point].name,
      measure.unit.empty() ? measure.title : fmt::format("{} ({})", measure.title, measure.unit),
      cell(*base),
      cell(*value),
      DifferenceFrom(parts, point, baseline, measure),
      paired ? Cell{DifferenceCell(paired->value, paired, static_cast<size_t>(paired->degrees_of_freedom) + 1)} : Cell{},
      measure.in_ratios ? Cell{PercentChange(*value, *base)} : Cell{},
      fewer > 1 ? Cell{Reading(statistics::ProbabilityGreater(of_point.values, of_base.values))} : Cell{},
      verdict};
}

}  // namespace

std::optional<Table> ComparisonImprovements(const ComparisonParts& parts) {
  Table table{"improvement",
              "Changes from the baseline",
              {{"point", "point", "", ""},
               {"measure", "measure", "", ""},
               {"baseline", "baseline", "", "value of the baseline", 0, 4, false},
               {"value", "value", "", "value of the point"},
               {"difference", "difference", "", "value minus the baseline's value, with Welch's 95 % interval", 0, 3, false},
               {"paired_difference", "paired by seed", "",
                "the same difference over the shared seeds; it does not affect the verdict", 0, 3, false},
               {"change_pct", "change", "%",
                "100 x (value / baseline - 1), if the baseline's interval and all values are above zero", 0, 3},
               {"p_more", "P(>)", "", "share of seed pairs in which the point's value is above the baseline's", 0, 2},
               {"verdict", "that is", "", "by the measure's direction; without one: more or less"}},
              {},
              {},
              {}};
  const std::vector<MeasureSpec> columns = MainColumns(parts);
  std::map<std::pair<size_t, size_t>, std::vector<JudgedPoint>> verdicts;  // by baseline and column
  for (size_t i = 0; i < parts.points.size(); ++i) {
    const std::optional<size_t> baseline = parts.choices[parts.points[i].group].baseline;
    if (!baseline || i == *baseline) continue;
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto [known, is_new] = verdicts.try_emplace({*baseline, c});
      if (is_new) known->second = parts.scoring.VerdictsAgainst(*baseline, columns[c]);
      if (auto row = ImprovementRow(parts, i, *baseline, columns[c], known->second[i].Text()))
        table.rows.push_back(*std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  // Measures without a ratio need their difference in every output.
  for (const MeasureSpec& measure : MainColumns(parts)) table.columns[4].in_text |= !measure.in_ratios;
  table.key_columns = 2;
  table.notes = {
      "Better or worse: both have four or more seeds, and Welch's test shows a difference after correction for the number of "
      "points (Holm). At most 5 % of all reports have a wrong verdict by one measure. Each 95 % interval covers only its own "
      "difference, not all differences together. With one seed, the interval describes this policy and not other seeds "
      "(sweep.seeds.n). A point that "
      "changes one value shows the effect of that value."};
  return table;
}

}  // namespace backplane
