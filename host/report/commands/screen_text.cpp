#include "commands/screen_text.hpp"

#include <fmt/format.h>

#include "text/text_table.hpp"

namespace backplane {
namespace {

constexpr size_t kShownRows = 40;

}  // namespace

std::string ScreenText(Table table, size_t width) {
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
