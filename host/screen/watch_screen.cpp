#include "screen/watch_screen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/colour.hpp"
#include "base/patient_output.hpp"
#include "base/printable.hpp"
#include "screen/cursor.hpp"

namespace backplane {
namespace {

constexpr double kDrawEvery_s = 0.2, kTotalsEvery_s = 30;

}  // namespace

void BatchScreen::Update(const std::vector<BatchRow>& rows, const BatchTotals& totals) {
  next_s_ = totals.elapsed_s + kDrawEvery_s;
  if (!screen_.live) {
    PrintChanges(rows, totals);
    return;
  }
  const Screen now = DetectScreen(DescriptorOf(stream_));  // the window may have been resized
  if (now.live) {
    screen_.width = now.width;
    screen_.height = now.height;
  }
  Screen inside = screen_;
  inside.height = screen_.height - 1;  // the cursor stands on a line of its own below the block
  Draw(FormatBatch(rows, totals, inside));
}

void BatchScreen::Draw(const std::string& block) {
  HideCursor(stream_);
  std::string text = kBeginUpdate + (lines_ > 0 ? fmt::format("\x1b[{}A\r", lines_) : "\r");
  for (const char c : block) {
    text += c == '\n' ? "\x1b[K\n" : std::string(1, c);
  }
  text += "\x1b[J";  // clears the rest of a longer block
  fmt::print(stream_, "{}{}", text, kEndUpdate);
  std::fflush(stream_);
  block_ = block;
  lines_ = static_cast<size_t>(std::count(block.begin(), block.end(), '\n'));
}

void BatchScreen::BeginWith(const std::vector<BatchRow>& rows) {
  states_.clear();
  for (const BatchRow& row : rows) states_.push_back(row.state);
}

void BatchScreen::PrintChanges(const std::vector<BatchRow>& rows, const BatchTotals& totals) {
  states_.resize(rows.size(), TrialState::kPlanned);
  for (size_t i = 0; i < rows.size(); ++i) {
    const TrialState state = rows[i].state;
    const bool is_news = state == TrialState::kRunning || state == TrialState::kLost || IsFinal(state);
    if (state != states_[i] && is_news) {
      fmt::print(stream_, "{}  {}\n", TimeOfDay(), FormatTrialLine(rows[i]));
    }
    states_[i] = state;
  }
  if (const std::string best = FormatBest(totals); best != best_) {
    fmt::print(stream_, "{}  {}\n", TimeOfDay(), best);
    best_ = best;
  }
  if (totals.elapsed_s >= next_totals_s_) {
    fmt::print(stream_, "{}  {}\n", TimeOfDay(), FormatTotals(rows, totals));
    next_totals_s_ = totals.elapsed_s + kTotalsEvery_s;
  }
  std::fflush(stream_);
}

void BatchScreen::Note(const std::string& text) {
  const std::string block = lines_ > 0 ? block_ : "";
  Clear();
  fmt::print(stream_, "{}", NoteLines(text, screen_));
  if (!block.empty()) {
    Draw(block);
  }
  std::fflush(stream_);
}

void BatchScreen::Clear() {
  if (lines_ > 0) {
    fmt::print(stream_, "\x1b[{}A\r\x1b[J", lines_);
    std::fflush(stream_);
    lines_ = 0;
  }
  ShowCursor();
}

void BatchScreen::Leave() {
  lines_ = 0;
  ShowCursor();
}

}  // namespace backplane
