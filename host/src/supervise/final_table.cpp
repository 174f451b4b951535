#include "supervise/final_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "base/text_columns.hpp"
#include "store/measurements.hpp"

namespace backplane {
namespace {

constexpr size_t kGap = 2, kMinName = 12;

struct Column {
  std::string heading;
  std::vector<std::string> cells;  // of each row
  int rank = 0;                    // the highest goes first where there is no room

  size_t width() const {
    size_t widest = Columns(heading);
    for (const std::string& cell : cells) widest = std::max(widest, Columns(cell));
    return widest;
  }
};

std::string Speed(const TrialResult& result) { return result.sps ? FormatCount(static_cast<uint64_t>(*result.sps)) : "-"; }

std::string Return(const TrialResult& result) {
  if (!result.training.episode_return || result.training.episode_return->n == 0) return "-";
  const Spread& spread = *result.training.episode_return;
  return spread.se ? fmt::format("{:.5g} +- {:.2g}", spread.mean, *spread.se) : fmt::format("{:.5g}", spread.mean);
}

std::string Time(const TrialResult& result) { return result.wall_s ? FormatClock(*result.wall_s) : "-"; }

std::vector<Column> ColumnsOf(const std::vector<FinalRow>& rows) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& heading, int rank, auto cell) {
    Column column{heading, {}, rank};
    for (const FinalRow& row : rows) column.cells.push_back(row.result ? cell(row) : std::string());
    columns.push_back(std::move(column));
  };
  const auto asked = std::max_element(rows.begin(), rows.end(),
                                      [](const FinalRow& a, const FinalRow& b) { return a.live.size() < b.live.size(); });
  add("steps/s", 101, [](const FinalRow& row) { return Speed(*row.result); });
  add("return +- s.e.", 102, [](const FinalRow& row) { return Return(*row.result); });
  for (size_t i = 0; asked != rows.end() && i < asked->live.size(); ++i) {
    add(LiveHeading(asked->live[i].name, asked->live), static_cast<int>(i), [i](const FinalRow& row) -> std::string {
      return i < row.live.size() && row.live[i].value ? LiveText(row.live[i]) : "-";
    });
  }
  add("time", 103, [](const FinalRow& row) { return Time(*row.result); });
  return columns;
}

size_t Total(const std::vector<Column>& columns) {
  size_t total = 0;
  for (const Column& column : columns) total += kGap + column.width();
  return total;
}

}  // namespace

std::vector<LiveValue> LastValues(const std::vector<std::string>& names, const std::filesystem::path& attempt_dir) {
  std::vector<LiveValue> values;
  if (names.empty()) return values;
  const Measurements found = ReadMeasurements(attempt_dir);
  const std::vector<IterationValue> recorded = ReadIterations(attempt_dir);
  for (const std::string& name : names) {
    LiveValue& value = values.emplace_back(LiveValue{name, std::nullopt});
    for (const IterationValue& one : recorded) {
      if (one.name == name) value.value = one.value;
    }
    for (const Statistic& one : found.statistics) {
      if (one.name == name && one.mean) value.value = one.mean;
    }
    if (value.value && !std::isfinite(*value.value)) value.value.reset();
  }
  return values;
}

std::string FormatFinalTable(const std::vector<FinalRow>& rows, std::optional<size_t> width, bool utf8) {
  std::vector<Column> columns = ColumnsOf(rows);
  size_t name = Columns("trial"), state = Columns("state");
  for (const FinalRow& row : rows) name = std::max(name, Columns(row.name)), state = std::max(state, Columns(row.state));
  const size_t before = 2 + kGap + state;
  while (width && !columns.empty() && before + std::min(name, kMinName) + Total(columns) > *width) {
    columns.erase(
        std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) { return a.rank < b.rank; }));
  }
  if (width) name = std::min(name, std::max(kMinName, *width - std::min(*width, before + Total(columns))));
  std::string text = "  " + PadRight("trial", name) + "  " + PadRight("state", state);
  for (const Column& column : columns) text += std::string(kGap, ' ') + PadLeft(column.heading, column.width());
  text += "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string line = "  " + PadRight(CutName(rows[i].name, name, utf8), name) + "  " + PadRight(rows[i].state, state);
    if (rows[i].note.empty()) {
      for (const Column& column : columns) line += std::string(kGap, ' ') + PadLeft(column.cells[i], column.width());
    } else {
      line += "  " + Printable(rows[i].note);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace backplane
