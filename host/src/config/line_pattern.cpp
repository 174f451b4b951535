#include "config/line_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/units.hpp"

namespace backplane {
namespace {

constexpr size_t kMostPattern = 1000;  // bytes

// What stands before the first character that means something else than itself. The last of it may be repeated, or not be
// there.
std::string LiteralBeginning(const std::string& text) {
  if (text.find('|') != std::string::npos) return "";
  const size_t end = std::min(text.find_first_of("^$\\.*+?()[]{}"), text.size());
  const bool repeated = end < text.size() && (text[end] == '*' || text[end] == '?' || text[end] == '{');
  return text.substr(0, end - (repeated && end > 0 ? 1 : 0));
}

// A full stop that ends a sentence is easily taken into the group.
double NumberOf(const std::string& text) {
  if (const auto number = ParseNumber(text)) return *number;
  return text.ends_with('.') ? ParseNumber(text.substr(0, text.size() - 1)).value_or(std::nan("")) : std::nan("");
}

}  // namespace

std::optional<LinePattern> LinePattern::Make(const std::string& text, std::string* why_not) {
  // Its reader calls itself for each bracket.
  if (text.size() > kMostPattern) {
    *why_not = fmt::format("wanted a pattern of at most {} bytes, found {}", kMostPattern, text.size());
    return std::nullopt;
  }
  try {
    std::regex regex(text, std::regex::ECMAScript | std::regex::optimize);
    if (regex.mark_count() == 1) return LinePattern(std::move(regex), LiteralBeginning(text));
    *why_not = fmt::format("wanted one group, the number, as in 'return=([-0-9.]+)', found {} in '{}'; (?:...) is no group",
                           regex.mark_count(), text);
  } catch (const std::regex_error& error) {
    *why_not = fmt::format("wanted a regular expression, found '{}': {}", text, error.what());
  }
  return std::nullopt;
}

std::vector<LinePattern::Match> LinePattern::MatchesIn(std::string_view line) const {
  line = line.substr(0, kMostLine);
  std::vector<Match> matches;
  if (line.find(begin_) == line.npos) return matches;
  try {
    for (std::cregex_iterator match(line.data(), line.data() + line.size(), regex_), none; match != none; ++match) {
      const std::string text = (*match)[1].str();
      matches.push_back({NumberOf(text), text});
    }
  } catch (const std::regex_error&) {
    // Too complex for this line: it has no number that anybody would find.
  }
  return matches;
}

std::vector<double> LinePattern::NumbersIn(std::string_view line) const {
  std::vector<double> numbers;
  for (const Match& match : MatchesIn(line)) numbers.push_back(match.number);
  return numbers;
}

}  // namespace backplane
