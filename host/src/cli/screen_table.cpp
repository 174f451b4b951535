#include "cli/screen_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "supervise/progress.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

constexpr size_t kShownRows = 40;
constexpr int kNarrowest = 80;
constexpr size_t kUnlimited = 1000;  // of a file: notes are folded still

}  // namespace

std::string ScreenText(Table table) {
  const Screen screen = DetectScreen(fileno(stdout));
  const size_t width = screen.live ? static_cast<size_t>(std::max(screen.width, kNarrowest)) - 1 : kUnlimited;
  table.title.clear();
  table.notes.clear();
  if (table.rows.size() > kShownRows) {
    table.notes.push_back(fmt::format("And {} more rows.", table.rows.size() - kShownRows));
    table.rows.resize(kShownRows);
    std::erase_if(table.emphasised, [](size_t row) { return row >= kShownRows; });
  }
  return FormatScreenTable(std::move(table), width);
}

}  // namespace backplane
