#include "screen/status_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/colour.hpp"
#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "base/text_columns.hpp"

namespace backplane {
namespace {

constexpr size_t kMinName = 12, kGap = 2;

struct ScreenColumn {
  std::string heading;
  std::function<std::string(const BatchRow&)> cell;
  bool asked = false;  // by output.live: it stays where there is no room for all
  size_t cells = 0;
};

// A row and its place in the plan, from 1 on.
struct NumberedRow {
  const BatchRow* row;
  size_t number;
};

std::string Percent(const BatchRow& row) {
  return row.progress ? fmt::format("{} %", static_cast<int>(std::clamp(*row.progress, 0.0, 1.0) * 100)) : "";
}
std::string Speed(const BatchRow& row) {
  return row.sps && *row.sps > 0 ? FormatCount(static_cast<uint64_t>(std::llround(*row.sps))) : "";
}
std::string Return(const BatchRow& row) {
  return row.episode_return && std::isfinite(*row.episode_return) ? fmt::format("{:.4g}", *row.episode_return) : "";
}
std::string Time(const BatchRow& row) { return row.elapsed_s ? FormatClock(*row.elapsed_s) : ""; }

std::string Live(const BatchRow& row, const std::string& name) {
  const auto found = std::find_if(row.live.begin(), row.live.end(), [&](const LiveValue& one) { return one.name == name; });
  return found != row.live.end() ? LiveText(*found) : "";
}

// The columns of every batch, then the live columns of the rows.
std::vector<ScreenColumn> ColumnsOf(const std::vector<NumberedRow>& rows) {
  std::vector<ScreenColumn> columns = {{"progress", Percent}, {"steps/s", Speed}, {"return", Return}, {"time", Time}};
  std::vector<LiveValue> live;
  for (const auto& [row, number] : rows) {
    for (const LiveValue& one : row->live) {
      if (std::none_of(live.begin(), live.end(), [&](const LiveValue& known) { return known.name == one.name; })) {
        live.push_back(one);
      }
    }
  }
  for (const LiveValue& one : live) {
    columns.push_back(
        {LiveHeading(one.name, live), [name = one.name](const BatchRow& row) { return Live(row, name); }, one.asked});
  }
  return columns;
}

int Rank(TrialState state) {
  switch (state) {
    case TrialState::kRunning: return 0;
    case TrialState::kLost: return 1;
    case TrialState::kQueued: return 2;
    case TrialState::kFailed: return 3;
    default: return IsFinal(state) ? 4 : 5;
  }
}

std::vector<NumberedRow> Ordered(const std::vector<BatchRow>& rows) {
  std::vector<NumberedRow> ordered;
  for (const BatchRow& row : rows) {
    ordered.push_back({&row, ordered.size() + 1});
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const NumberedRow& a, const NumberedRow& b) {
    const int rank_a = Rank(a.row->state), rank_b = Rank(b.row->state);
    return rank_a != rank_b ? rank_a < rank_b : a.row->ended > b.row->ended;
  });
  return ordered;
}

// "9 planned, 3 completed": the rows that a list omits.
std::string Counts(const std::vector<NumberedRow>& rows, size_t from) {
  std::map<std::string, size_t> counts;
  for (size_t i = from; i < rows.size(); ++i) {
    ++counts[StateWord(rows[i].row->state)];
  }
  std::string text;
  for (const auto& [word, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text;
}

Tone ToneOf(TrialState state) {
  switch (state) {
    case TrialState::kRunning: return Tone::kBusy;
    case TrialState::kFailed: return Tone::kBad;
    case TrialState::kInfeasible:
    case TrialState::kLost: return Tone::kWarning;
    default: return IsFinished(state) ? Tone::kGood : Tone::kFaint;
  }
}

bool AreDistinct(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

// Widths depend on the rows shown, so a batch of short names has a small table.
class Table {
 public:
  Table(std::vector<NumberedRow> rows, const Screen& screen)
      // One column less than there is: a full line makes some terminals wrap.
      : rows_(std::move(rows)), screen_(screen), width_(static_cast<size_t>(std::max(screen.width - 1, 1))) {
    for (const NumberedRow& row : rows_) {
      name_ = std::max(name_, Columns(row.row->name));
      state_ = std::max(state_, StateWord(row.row->state).size());
    }
    const size_t taken = ChooseColumns(LeastName());
    name_ = std::min(name_, width_ > taken ? width_ - taken : 1);
    names_ = NamesWithin(name_);
    if (!AreDistinct(names_)) NumberNames();
  }

  std::string Heading() const {
    std::string line = Left("trial", "state");
    for (const ScreenColumn& column : columns_) {
      line += std::string(kGap, ' ') + PadLeft(column.heading, column.cells);
    }
    return Line(line);
  }

  std::string RowLine(size_t index) const {
    const BatchRow& row = *rows_[index].row;
    std::string line = Left(names_[index], StateWord(row.state));
    if (!row.why.empty() && (IsFinal(row.state) || row.state == TrialState::kQueued || row.state == TrialState::kLost)) {
      const size_t used = Columns(line) + kGap;
      line += std::string(kGap, ' ') + CutEnd(PrintableFirstLine(row.why), used < width_ ? width_ - used : 0, screen_.utf8);
    } else {
      for (const ScreenColumn& column : columns_) {
        line += std::string(kGap, ' ') + PadLeft(column.cell(row), column.cells);
      }
    }
    return Coloured(Line(line), index);
  }

  std::string Line(const std::string& text) const {
    std::string line = CutEnd(text, width_, screen_.utf8);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

 private:
  // Adds columns that fit next to a name: first the progress, then output.live, then the rest. Returns the width used.
  size_t ChooseColumns(size_t least_name) {
    std::vector<ScreenColumn> all = ColumnsOf(rows_);
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return i == 0 || all[i].asked; });
    size_t taken = state_ + 2 * kGap;
    std::vector<size_t> chosen;
    for (const size_t i : order) {
      all[i].cells = Columns(all[i].heading);
      for (const NumberedRow& row : rows_) all[i].cells = std::max(all[i].cells, all[i].cell(*row.row).size());
      if (taken + kGap + all[i].cells + least_name > width_) break;
      chosen.push_back(i);
      taken += kGap + all[i].cells;
    }
    std::sort(chosen.begin(), chosen.end());
    for (const size_t i : chosen) columns_.push_back(std::move(all[i]));
    return taken;
  }

  std::string Left(const std::string& name, const std::string& state) const {
    return std::string(kGap, ' ') + PadRight(CutEnd(name, name_, screen_.utf8), name_) + std::string(kGap, ' ') +
           PadRight(state, state_);
  }

  // The state's word only; it was found before escapes could change any width.
  std::string Coloured(std::string line, size_t index) const {
    const std::string word = StateWord(rows_[index].row->state);
    const size_t at = line.find(word, kGap + names_[index].size());
    if (screen_.colour && at != std::string::npos) line.replace(at, word.size(), Toned(word, ToneOf(rows_[index].row->state)));
    return line;
  }

  std::vector<std::string> NamesWithin(size_t width) const {
    std::vector<std::string> names;
    for (const NumberedRow& row : rows_) names.push_back(CutName(row.row->name, width, screen_.utf8));
    return names;
  }

  // With less room two rows would have the same name.
  size_t LeastName() const {
    size_t least = std::min(kMinName, name_);
    while (least < name_ && !AreDistinct(NamesWithin(least))) ++least;
    return least;
  }

  // The last resort.
  void NumberNames() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const std::string number = fmt::format("#{}", rows_[i].number);
      const size_t room = name_ > number.size() + 1 ? name_ - number.size() - 1 : 0;
      names_[i] = number + (room > 0 ? " " + CutMiddle(rows_[i].row->name, room, screen_.utf8) : "");
    }
  }

  std::vector<NumberedRow> rows_;
  const Screen& screen_;
  size_t width_, name_ = std::string("trial").size(), state_ = std::string("state").size();
  std::vector<std::string> names_;  // of the rows, as they are shown
  std::vector<ScreenColumn> columns_;
};

}  // namespace

std::string StateWord(TrialState state) {
  std::string word = Word(state);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

std::string FormatTotals(const std::vector<BatchRow>& rows, const BatchTotals& totals) {
  size_t done = 0;
  std::map<TrialState, size_t> counts;
  for (const BatchRow& row : rows) {
    done += IsFinal(row.state);
    ++counts[row.state];
  }
  const size_t all = rows.size() + totals.to_come;
  std::string line = fmt::format("{} of {} done", done, all);
  for (const TrialState state :
       {TrialState::kRunning, TrialState::kFailed, TrialState::kInfeasible, TrialState::kLost, TrialState::kQueued})
    if (counts[state] > 0) line += fmt::format(", {} {}", counts[state], StateWord(state));
  if (!totals.waits_for.empty())
    line += fmt::format("{} ({})", counts[TrialState::kQueued] > 0 ? "" : ", waiting", Printable(totals.waits_for));
  line += "   " + FormatClock(totals.elapsed_s);
  line += totals.left_s && done < all ? ", about " + FormatClock(*totals.left_s) + " left" : "";
  return totals.note.empty() ? line : line + "   " + totals.note;
}

std::string FormatBest(const BatchTotals& totals) {
  return totals.best.empty() ? "" : "best so far: " + Printable(totals.best);
}

std::string FormatBatch(const std::vector<BatchRow>& rows, const BatchTotals& totals, const Screen& screen) {
  const std::vector<NumberedRow> ordered = Ordered(rows);
  const std::string best = screen.height > 3 ? FormatBest(totals) : "";
  const size_t head = best.empty() ? 2 : 3;
  const size_t room = std::max(static_cast<size_t>(std::max(screen.height, 1)), head + 1) - head;
  const size_t shown = ordered.size() <= room ? ordered.size() : room - 1;
  const Table table({ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(shown)}, screen);
  std::string text = table.Line(FormatTotals(rows, totals));
  if (!best.empty()) text += table.Line("  " + best);
  text += shown > 0 ? table.Heading() : "";
  for (size_t i = 0; i < shown; ++i) {
    text += table.RowLine(i);
  }
  if (shown < ordered.size()) {
    text += table.Line(fmt::format("  and {} more: {}", ordered.size() - shown, Counts(ordered, shown)));
  }
  return text;
}

std::string FormatTrialLine(const BatchRow& row) {
  std::string line = row.name + "  " + StateWord(row.state);
  if (!row.why.empty()) {
    return line + "  " + PrintableFirstLine(row.why);
  }
  const std::string speed = Speed(row), reached = Return(row);
  for (const std::string& part :
       {Percent(row), speed.empty() ? "" : speed + " steps/s", reached.empty() ? "" : "return " + reached, Time(row)}) {
    line += part.empty() ? "" : "  " + part;
  }
  for (const LiveValue& one : row.live) {
    if (one.value) line += "  " + LiveHeading(one.name, row.live) + " " + LiveText(one);
  }
  return line;
}

}  // namespace backplane
