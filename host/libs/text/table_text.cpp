#include "text/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace backplane {
namespace {

using Sample = std::pair<uint64_t, std::string>;  // n and its unit

bool IsSample(const Number& number) { return number.n > 1 || !number.of.empty(); }

// The sample sizes and units of the numbers in a column.
std::set<Sample> SamplesOf(const Table& table, size_t index) {
  std::set<Sample> samples;
  for (const std::vector<Cell>& row : table.rows) {
    const Number* number = NumberAt(row, index);
    if (number != nullptr && IsSample(*number)) {
      samples.emplace(number->n, number->of);
    }
  }
  return samples;
}

// "3 seeds", "1 seed".
std::string SampleText(const Sample& sample) {
  std::string of = sample.second;
  if (sample.first == 1 && of.ends_with('s')) of.pop_back();
  return fmt::format("{}{}{}", sample.first, of.empty() ? "" : " ", of);
}

TableColumnText MakeColumn(const Table& table, size_t index) {
  TableColumnText made{&table.columns[index], index, table.columns[index].title, false};
  const std::string& unit = made.column->unit;
  const bool is_rate = unit == "1/s" && made.heading.find("/s") != std::string::npos;  // "steps/s"
  if (!unit.empty() && !is_rate && made.heading.find(unit) == std::string::npos) {
    made.heading += " (" + unit + ")";
  }
  for (const std::vector<Cell>& row : table.rows) {
    if (index < row.size() && std::holds_alternative<std::string>(row[index]) && !std::get<std::string>(row[index]).empty()) {
      made.is_numeric = false;
      break;
    }
    made.is_numeric |= NumberAt(row, index) != nullptr;
  }
  return made;
}

// The common unit of the samples; empty if they differ.
std::string CommonKind(const std::set<Sample>& samples) {
  const std::string& kind = samples.begin()->second;
  return std::all_of(samples.begin(), samples.end(), [&](const Sample& one) { return one.second == kind; }) ? kind : "";
}

CellText MakeCell(const std::vector<Cell>& row, const TableColumnText& column, const std::set<Sample>& samples) {
  CellText cell;
  if (const Number* number = NumberAt(row, column.index)) {
    cell.number = FormatParts(*number, column.column->digits);
    if (samples.size() > 1 && IsSample(*number)) {
      cell.sample = " (n " + SampleText({number->n, CommonKind(samples).empty() ? number->of : ""}) + ")";
    }
  } else if (column.index < row.size()) {
    cell.text = FormatCell(row[column.index], *column.column);
  }
  return cell;
}

// "n = 3 seeds: steps/s, time. n in brackets: return (episodes).", or "n = 3 seeds." if all are equal.
std::string SampleNote(const TableText& text, const std::vector<std::set<Sample>>& samples) {
  std::vector<std::pair<Sample, std::string>> groups;  // in the order of the columns
  std::string mixed;
  for (size_t i = 0; i < text.columns.size(); ++i) {
    if (samples[i].empty()) {
      continue;
    }
    const Sample sample = *samples[i].begin();
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.first == sample; });
    std::string* list = samples[i].size() > 1   ? &mixed
                        : group != groups.end() ? &group->second
                                                : &groups.emplace_back(sample, "").second;
    *list += (list->empty() ? "" : ", ") + text.columns[i].heading;
    const std::string kind = list == &mixed ? CommonKind(samples[i]) : "";
    *list += kind.empty() ? "" : " (" + kind + ")";
  }
  std::string note;
  for (const auto& [sample, columns] : groups) {
    const bool is_all = groups.size() == 1 && mixed.empty();
    note += fmt::format("{}n = {}{}.", note.empty() ? "" : " ", SampleText(sample), is_all ? "" : ": " + columns);
  }
  return mixed.empty() ? note : fmt::format("{}{}n in brackets: {}.", note, note.empty() ? "" : " ", mixed);
}

}  // namespace

std::string CellText::Whole() const {
  return text + number.value + (number.interval.empty() ? "" : " " + number.interval) + sample;
}

std::string FormatCell(const Cell& cell, const Column& column) {
  if (const Number* number = std::get_if<Number>(&cell)) {
    return FormatNumber(*number, column.digits);
  }
  const std::string* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : "";
}

TableText TextOf(const Table& table, bool narrow) {
  TableText text;
  std::vector<std::set<Sample>> samples;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!narrow || table.columns[i].in_text) {
      text.columns.push_back(MakeColumn(table, i));
      samples.push_back(SamplesOf(table, i));
      if (i < table.key_columns) text.keys = text.columns.size();
    }
  }
  bool has_interval = false;
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<CellText> cells;
    for (size_t i = 0; i < text.columns.size(); ++i) {
      cells.push_back(MakeCell(row, text.columns[i], samples[i]));
      has_interval |= !cells.back().number.interval.empty();
    }
    text.rows.push_back(std::move(cells));
  }
  text.emphasised.resize(table.rows.size());
  for (const size_t row : table.emphasised) {
    text.emphasised.at(row) = true;
  }
  const std::string note = SampleNote(text, samples);
  if (!note.empty()) {
    text.notes.push_back((has_interval ? "±: 95 % confidence interval of the mean. " : "") + note);
  }
  text.notes.insert(text.notes.end(), table.notes.begin(), table.notes.end());
  return text;
}

}  // namespace backplane
