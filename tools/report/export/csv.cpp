#include "export/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "record/budget_cut.hpp"
#include "text/csv_field.hpp"
#include "text/short_names.hpp"

namespace backplane {
namespace {

const char* const kReturn = "return";

std::string Text(const std::optional<double>& value) {
  return !value ? "" : std::isnan(*value) ? "NaN" : fmt::format("{}", *value);
}

std::string Text(const std::optional<uint64_t>& value) { return value ? std::to_string(*value) : ""; }

std::string Text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); }

std::string Line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += (line.empty() ? "" : ",") + CsvField(field);
  }
  return line + "\n";
}

struct Row {
  const PlanLine* trial = nullptr;
  TrialRecord record;
  Measurements found;
};

std::vector<Row> Rows(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record) {
  std::vector<Row> rows;
  const CutHow how = HowToCut(folder, plan, record);
  for (const PlanLine& line : plan) {
    if (line.dropped) {
      continue;
    }
    Row row;
    row.trial = &line;
    const TrialRecord* known = record.Find(line.trial_id);
    if (known != nullptr) {
      WithinBudget within = CutAtBudget(folder, *known, line.budget, how);
      row.record = std::move(within.record);
      if (!row.record.attempts.empty())
        row.found = ReadMeasurements(folder.attempt(line.trial_id, row.record.attempts.back().number), within.cut);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// In order of their first appearance in the plan: not every point sets every path.
std::vector<std::string> SweptPaths(const std::vector<Row>& rows) {
  std::vector<std::string> paths;
  std::set<std::string> known;
  for (const Row& row : rows) {
    for (const auto& [path, value] : row.trial->values) {
      if (known.insert(path).second) {
        paths.push_back(path);
      }
    }
  }
  return paths;
}

// The return first, the others by name.
std::vector<std::string> StatisticNames(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    for (const auto& [name, spread] : row.found.statistics) {
      names.insert(name);
    }
  }
  names.erase(kReturn);
  std::vector<std::string> ordered = {kReturn};
  ordered.insert(ordered.end(), names.begin(), names.end());
  return ordered;
}

// Phase times, by name.
std::vector<std::string> TimeNames(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    for (const auto& [name, value] : row.found.time) {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

const std::vector<std::string> kBefore = {"trial", "point"};
const std::vector<std::string> kAfter = {"seed", "state",        "outcome",   "why",       "attempts",
                                         "sps",  "sampling_sps", "env_steps", "iterations"};

void AddValues(const Row& row, const std::vector<std::string>& paths, std::vector<std::string>* fields) {
  for (const std::string& path : paths) {
    const auto& values = row.trial->values;
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.first == path; });
    fields->push_back(found != values.end() ? Text(found->second) : "");
  }
}

void AddStatistics(const Row& row, const std::vector<std::string>& names, std::vector<std::string>* fields) {
  static const Spread kNone;
  for (const std::string& name : names) {
    const auto found = row.found.statistics.find(name);
    const Spread& spread = found != row.found.statistics.end() ? found->second : kNone;
    for (const std::optional<double>& value : {spread.mean, spread.sd, spread.se}) fields->push_back(Text(value));
    fields->push_back(Text(spread.n));
  }
}

void AddTimes(const Row& row, const std::vector<std::string>& names, std::vector<std::string>* fields) {
  const std::map<std::string, double> found(row.found.time.begin(), row.found.time.end());
  for (const std::string& name : names) {
    const auto value = found.find(name);
    fields->push_back(value != found.end() ? Text(std::optional(value->second)) : "");
  }
}

// Extra columns for a search: the suggestion's number, and 1 for a seed outside the search.
const std::vector<std::string> kOfSearch = {"number", "confirms"};

bool IsSearched(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.trial->number.has_value(); });
}

std::vector<std::string> Fields(const Row& row, bool searched, const std::vector<std::string>& paths,
                                const std::vector<std::string>& names, const std::vector<std::string>& times) {
  std::vector<std::string> fields = {row.trial->trial_id, row.trial->name};
  if (searched) fields.insert(fields.end(), {Text(row.trial->number), row.trial->confirms ? "1" : "0"});
  AddValues(row, paths, &fields);
  const std::vector<std::string> rest = {std::to_string(row.trial->seed),
                                         Word(row.record.state),
                                         Word(row.record.outcome),
                                         row.record.why,
                                         std::to_string(row.record.attempts.size()),
                                         Text(row.found.result.sps),
                                         Text(row.found.result.sampling_sps),
                                         Text(row.found.result.env_steps),
                                         Text(row.found.result.iterations)};
  fields.insert(fields.end(), rest.begin(), rest.end());
  AddStatistics(row, names, &fields);
  AddTimes(row, times, &fields);
  return fields;
}

}  // namespace

std::string FormatCsv(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record) {
  const std::vector<Row> rows = Rows(folder, plan, record);
  const std::vector<std::string> paths = SweptPaths(rows), names = StatisticNames(rows), times = TimeNames(rows);
  std::vector<std::string> others = kBefore, statistics;
  for (const std::string& name : names) {
    for (const char* suffix : {"", "_sd", "_se", "_n"}) {
      statistics.push_back(name + suffix);
    }
  }
  statistics.insert(statistics.end(), times.begin(), times.end());
  const bool searched = IsSearched(rows);
  if (searched) others.insert(others.end(), kOfSearch.begin(), kOfSearch.end());
  others.insert(others.end(), kAfter.begin(), kAfter.end());
  others.insert(others.end(), statistics.begin(), statistics.end());
  std::vector<std::string> head = kBefore;
  if (searched) head.insert(head.end(), kOfSearch.begin(), kOfSearch.end());
  const std::vector<std::string> values = ShortNames(paths, others);
  head.insert(head.end(), values.begin(), values.end());
  head.insert(head.end(), kAfter.begin(), kAfter.end());
  head.insert(head.end(), statistics.begin(), statistics.end());
  std::string text = Line(head);
  for (const Row& row : rows) {
    text += Line(Fields(row, searched, paths, names, times));
  }
  return text;
}

}  // namespace backplane
