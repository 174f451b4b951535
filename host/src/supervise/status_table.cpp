#include "supervise/status_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

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

// Those of every batch, then what is shown of the rows live.
std::vector<ScreenColumn> ColumnsOf(const std::vector<const BatchRow*>& rows) {
  std::vector<ScreenColumn> columns = {{"progress", Percent}, {"steps/s", Speed}, {"return", Return}, {"time", Time}};
  std::vector<LiveValue> live;
  for (const BatchRow* row : rows) {
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
  return state == TrialState::kRunning ? 0 : state == TrialState::kFailed ? 1 : IsFinal(state) ? 2 : 3;
}

std::vector<const BatchRow*> Ordered(const std::vector<BatchRow>& rows) {
  std::vector<const BatchRow*> ordered;
  for (const BatchRow& row : rows) {
    ordered.push_back(&row);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const BatchRow* a, const BatchRow* b) {
    const int rank_a = Rank(a->state), rank_b = Rank(b->state);
    return rank_a != rank_b ? rank_a < rank_b : a->ended > b->ended;
  });
  return ordered;
}

// "9 planned, 3 completed": what a list leaves out.
std::string Counts(const std::vector<const BatchRow*>& rows, size_t from) {
  std::map<std::string, size_t> counts;
  for (size_t i = from; i < rows.size(); ++i) {
    ++counts[StateWord(rows[i]->state)];
  }
  std::string text;
  for (const auto& [word, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text;
}

const char* Colour(TrialState state) {
  return state == TrialState::kRunning      ? "\x1b[36m"
         : state == TrialState::kFailed     ? "\x1b[31m"
         : state == TrialState::kInfeasible ? "\x1b[33m"
         : IsFinished(state)                ? "\x1b[32m"
                                            : "\x1b[2m";
}

// Widths are those of the rows shown, so that a batch of short names has a small table.
class Table {
 public:
  Table(std::vector<const BatchRow*> rows, const Screen& screen)
      // One column less than there is: a full line makes some terminals wrap.
      : rows_(std::move(rows)), screen_(screen), width_(static_cast<size_t>(std::max(screen.width - 1, 1))) {
    for (const BatchRow* row : rows_) {
      name_ = std::max(name_, Columns(row->name));
      state_ = std::max(state_, StateWord(row->state).size());
    }
    const size_t taken = ChooseColumns();
    name_ = std::min(name_, width_ > taken ? width_ - taken : 1);
  }

  std::string Heading() const {
    std::string line = Left("trial", "state");
    for (const ScreenColumn& column : columns_) {
      line += std::string(kGap, ' ') + PadLeft(column.heading, column.cells);
    }
    return Line(line);
  }

  std::string RowLine(const BatchRow& row) const {
    std::string line = Left(CutName(row.name, name_, screen_.utf8), StateWord(row.state));
    if (!row.why.empty() && IsFinal(row.state)) {
      const size_t used = Columns(line) + kGap;
      line += std::string(kGap, ' ') + CutEnd(Printable(row.why), used < width_ ? width_ - used : 0, screen_.utf8);
    } else {
      for (const ScreenColumn& column : columns_) {
        line += std::string(kGap, ' ') + PadLeft(column.cell(row), column.cells);
      }
    }
    return Coloured(Line(line), row);
  }

  std::string Line(const std::string& text) const {
    std::string line = CutEnd(text, width_, screen_.utf8);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

 private:
  // Those that fit beside a name: the progress first, then what was asked for, then the rest. Returns the width taken.
  size_t ChooseColumns() {
    std::vector<ScreenColumn> all = ColumnsOf(rows_);
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return i == 0 || all[i].asked; });
    size_t taken = state_ + 2 * kGap;
    std::vector<size_t> chosen;
    for (const size_t i : order) {
      all[i].cells = Columns(all[i].heading);
      for (const BatchRow* row : rows_) all[i].cells = std::max(all[i].cells, all[i].cell(*row).size());
      if (taken + kGap + all[i].cells + kMinName > width_) break;
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
  std::string Coloured(std::string line, const BatchRow& row) const {
    const std::string word = StateWord(row.state);
    const size_t at = line.find(word, kGap + CutName(row.name, name_, screen_.utf8).size());
    if (screen_.colour && at != std::string::npos) {
      line.insert(at + word.size(), "\x1b[0m");
      line.insert(at, Colour(row.state));
    }
    return line;
  }

  std::vector<const BatchRow*> rows_;
  const Screen& screen_;
  size_t width_, name_ = std::string("trial").size(), state_ = std::string("state").size();
  std::vector<ScreenColumn> columns_;
};

}  // namespace

std::string StateWord(TrialState state) {
  std::string word = Word(state);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

std::string FormatTotals(const std::vector<BatchRow>& rows, const BatchTotals& totals) {
  size_t done = 0, running = 0, failed = 0, infeasible = 0;
  for (const BatchRow& row : rows) {
    done += IsFinal(row.state);
    running += row.state == TrialState::kRunning;
    failed += row.state == TrialState::kFailed;
    infeasible += row.state == TrialState::kInfeasible;
  }
  std::string line = fmt::format("{} of {} done", done, rows.size());
  for (const auto& [count, word] : {std::pair(running, "running"), {failed, "failed"}, {infeasible, "infeasible"}}) {
    line += count > 0 ? fmt::format(", {} {}", count, word) : "";
  }
  line += "   " + FormatClock(totals.elapsed_s);
  line += totals.left_s && done < rows.size() ? ", about " + FormatClock(*totals.left_s) + " left" : "";
  return totals.note.empty() ? line : line + "   " + totals.note;
}

std::string FormatBatch(const std::vector<BatchRow>& rows, const BatchTotals& totals, const Screen& screen) {
  const std::vector<const BatchRow*> ordered = Ordered(rows);
  constexpr size_t kHeadLines = 2;
  const size_t room = static_cast<size_t>(std::max<int>(screen.height, kHeadLines + 1)) - kHeadLines;
  const size_t shown = ordered.size() <= room ? ordered.size() : room - 1;
  const Table table({ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(shown)}, screen);
  std::string text = table.Line(FormatTotals(rows, totals));
  text += shown > 0 ? table.Heading() : "";
  for (size_t i = 0; i < shown; ++i) {
    text += table.RowLine(*ordered[i]);
  }
  if (shown < ordered.size()) {
    text += table.Line(fmt::format("  and {} more: {}", ordered.size() - shown, Counts(ordered, shown)));
  }
  return text;
}

std::string FormatTrialLine(const BatchRow& row) {
  std::string line = row.name + "  " + StateWord(row.state);
  if (!row.why.empty()) {
    return line + "  " + Printable(row.why);
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
