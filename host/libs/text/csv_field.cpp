#include "text/csv_field.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/units.hpp"

namespace backplane {
namespace {

bool IsNumber(const std::string& text) {
  constexpr std::array<std::string_view, 4> kWords = {"-inf", "+inf", "-nan", "+nan"};
  return std::ranges::find(kWords, text) != kWords.end() || ParseNumber(text).has_value();
}

bool LooksLikeFormula(const std::string& text) {
  const size_t first = text.find_first_not_of('\'');
  if (first == std::string::npos || std::string_view("=+-@").find(text[first]) == std::string_view::npos) return false;
  return first > 0 || !IsNumber(text);
}

}  // namespace

std::string CsvField(const std::string& text) {
  const std::string cell = (LooksLikeFormula(text) ? "'" : "") + text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace backplane
