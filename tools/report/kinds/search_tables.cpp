#include "kinds/search_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

std::string EndText(double value) { return FormatNumber(Reading(value), 3); }

std::string SpaceText(const SearchParts& parts, const SearchedOption& option) {
  if (!option.is_choice())
    return fmt::format("{} to {}{}{}", EndText(option.low), EndText(option.high), option.whole ? ", whole" : "",
                       option.log ? ", by decades" : "");
  std::vector<std::string> words;
  for (const nlohmann::json& choice : option.choices) words.push_back(parts.Said(option.path, choice));
  return fmt::format("{}", fmt::join(words, ", "));
}

// A number where the option has numbers: it sorts as one.
Cell ValueCell(const SearchParts& parts, const SearchedOption& option, const StudyTrial& trial) {
  const auto found = trial.params.find(option.path);
  if (found == trial.params.end()) return {};
  if (found->is_number() && !option.is_choice()) return Reading(found->get<double>());
  return parts.Said(option.path, *found);
}

// Then those without a score, in their order.
std::vector<const StudyTrial*> BestFirst(const Study& study) {
  std::vector<const StudyTrial*> order;
  for (const StudyTrial& trial : study.trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [&](const StudyTrial* a, const StudyTrial* b) {
    const bool a_ranks = a->state == StudyState::kComplete, b_ranks = b->state == StudyState::kComplete;
    return a_ranks && b_ranks ? study.IsBetter(*a->value, *b->value) : a_ranks && !b_ranks;
  });
  return order;
}

std::string Remark(const SearchParts& parts, const StudyTrial& trial) {
  if (!trial.came_to_end) return PrintableFirstLine(trial.why);
  if (trial.steps.empty()) return "pruned, but completed";
  return "pruned at " + parts.Value(trial.steps.back().second) + ", but completed";
}

std::string Joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace

std::optional<Table> BestTable(const SearchParts& parts) {
  const StudyTrial* best = parts.Best();
  if (!best) return std::nullopt;
  Table table{"best", "", {}, {}, {}, {}};  // without a title it is not folded away
  table.columns = {{"option", "option", "", "path of the option in the experiment file"},
                   {"value", "value", "", "of the best setting", 0, 3},
                   {"space", "space", "", "range or values of the search"}};
  for (const SearchedOption& option : parts.study.space) {
    if (!best->params.contains(option.path)) continue;
    table.rows.push_back({option.path, ValueCell(parts, option, *best), SpaceText(parts, option)});
  }
  return table;
}

std::optional<Table> ConfirmedTable(const SearchParts& parts) {
  if (!parts.confirms) return std::nullopt;
  const MeasureSpec& metric = parts.metric;
  Table table{"confirmed", "", {}, {}, {}, {}};
  table.columns = {{"number", "number", "", "number of the suggestion", 0, 9},
                   {"searched", "in the search", metric.unit, metric.title, metric.direction},
                   {"fresh", "fresh seeds", metric.unit, "mean of fresh seeds, with its 95 % interval", metric.direction},
                   {"luck", "luck", metric.unit, "by how much the score in the search is better than the mean of fresh seeds"},
                   {"seeds", "seeds", "", "seeds with a score, of all seeds"},
                   {"setting", "setting", "", "values of the searched options"}};
  for (const ConfirmedSetting& one : parts.confirmed) {
    std::vector<Cell> row = {Reading(static_cast<double>(one.trial->number)),
                             Cell{},
                             Cell{},
                             Cell{},
                             fmt::format("{} of {}", one.values.size(), one.seeds),
                             parts.Setting(*one.trial)};
    if (one.trial->value) row[1] = Reading(*one.trial->value);
    if (!one.values.empty()) {
      const Number mean = Mean(one.values, "seeds");
      row[2] = mean;
      if (one.trial->value) row[3] = Reading(parts.Lead(*one.trial->value, mean.value));
    }
    if (one.trial == parts.Best()) table.emphasised.push_back(table.rows.size());
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      "The best of many noisy scores was also lucky, so its score in the search is too good on average. The mean of fresh "
      "seeds is unbiased, unless these seeds chose the best of several settings."};
  return table;
}

std::optional<Table> ImportanceTable(const SearchParts& parts, const std::vector<OptionImportance>& importances) {
  if (importances.empty()) return std::nullopt;
  Table table{"importance", "Importance of each option", {}, {}, {}, {}};
  table.columns = {
      {"option", "option", "", "path of the option"},
      {"share_pct", "explains", "%", "share of the variance of the trials' ranks that this option explains by itself", 1, 2},
      {"chance_pct", "chance", "%", "an option without effect exceeds this value in 1 of 20 cases", 0, 2},
      {"trials", "trials", "", "complete trials with this option", 0, 9}};
  for (const OptionImportance& one : importances)
    table.rows.push_back({one.path, Reading(100 * one.explained.share), Reading(100 * one.explained.by_chance),
                          Reading(static_cast<double>(one.trials))});
  table.notes = {fmt::format(
      "Ranks by {}, options in groups of equal size (Kruskal and Wallis, 1952; epsilon squared of Kelley, 1935). The shares "
      "omit interactions between options, and a search samples good regions more densely. A small share does not prove that "
      "an option has no effect.",
      parts.metric.title)};
  return table;
}

Table SuggestionsTable(const SearchParts& parts, const std::string& trials_folder) {
  const MeasureSpec& metric = parts.metric;
  Table table{"suggestions", "All suggestions", {}, {}, {}, {}};
  table.columns = {{"number", "number", "", "in the order of the search", 0, 9},
                   {"state", "state", "", "final state"},
                   {"value", metric.title, metric.unit,
                    "objective of a complete trial; last reported value of a pruned or running one", metric.direction}};
  for (const SearchedOption& option : parts.study.space) {
    const std::string& name = parts.names.at(option.path);
    table.columns.push_back({name, name, "", option.path, 0, 3});
  }
  const std::vector<Column> after = {
      {"steps", "iteration", "", "iteration of the last report to the search", 0, 9},
      {"seconds", "time", "s", "from the suggestion to its end", 0, 3},
      {"seeds", "seeds", "", "seeds that the search used", 0, 9, false},
      {"why", "remark", "", "reason of the failure, or a note that a pruned trial ran to its end"},
      {"trials", "trials", "", "ids of the trials", 0, 4, false, trials_folder}};
  table.columns.insert(table.columns.end(), after.begin(), after.end());
  const StudyTrial* best = parts.Best();
  for (const StudyTrial* shown : BestFirst(parts.study)) {
    const StudyTrial& trial = *shown;
    const auto number = [](std::optional<double> value) { return value ? Cell{Reading(*value)} : Cell{}; };
    std::vector<Cell> row = {Reading(static_cast<double>(trial.number)), Word(trial.state), number(trial.Latest())};
    for (const SearchedOption& option : parts.study.space) row.push_back(ValueCell(parts, option, trial));
    row.push_back(trial.steps.empty() ? Cell{} : Reading(static_cast<double>(trial.steps.back().first)));
    row.push_back(trial.started > 0 && trial.ended ? number(*trial.ended - trial.started) : Cell{});
    row.push_back(Reading(static_cast<double>(trial.seeds.size())));
    row.push_back(Remark(parts, trial));
    row.push_back(Joined(trial.trials));
    if (&trial == best) table.emphasised.push_back(table.rows.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace backplane
