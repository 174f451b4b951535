#include "contract/line_pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/units.hpp"

namespace backplane {
namespace {

constexpr size_t kMostPattern = 1000;              // bytes
constexpr int64_t kMostMemory = 256 << 10;         // of a compiled pattern: some 5,000 instructions
constexpr uint64_t kMostWork = uint64_t{1} << 27;  // instructions x bytes of one line

// The text before the first character with a special meaning. The last of its characters may be repeated, or optional.
std::string LiteralBeginning(const std::string& text) {
  if (text.find('|') != std::string::npos) return "";
  const size_t end = std::min(text.find_first_of("^$\\.*+?()[]{}"), text.size());
  const bool repeated = end < text.size() && (text[end] == '*' || text[end] == '?' || text[end] == '{');
  return text.substr(0, end - (repeated && end > 0 ? 1 : 0));
}

// A group easily includes the full stop that ends a sentence.
double NumberOf(const std::string& text) {
  if (const auto number = ParseNumber(text)) return *number;
  return text.ends_with('.') ? ParseNumber(text.substr(0, text.size() - 1)).value_or(std::nan("")) : std::nan("");
}

// A program may print any bytes. Letters of a pattern beyond ASCII match byte by byte.
re2::RE2::Options PatternOptions() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  return options;
}

// The place of `construct` in a pattern: not within an escape, and within [...] only if it is one itself.
size_t PlaceOf(const std::string& construct, const std::string& pattern) {
  const bool is_escape = construct.starts_with('\\');
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if ((!in_class || is_escape) && pattern.compare(i, construct.size(), construct) == 0) return i;
    if (pattern[i] == '\\') {
      ++i;
    } else if (in_class) {
      in_class = pattern[i] != ']';
    } else if (pattern[i] == '[') {
      in_class = true;
      if (pattern.compare(i + 1, 1, "^") == 0) ++i;
      if (pattern.compare(i + 1, 1, "]") == 0) ++i;  // the first ']' is a member
    }
  }
  const size_t anywhere = pattern.find(construct);
  return anywhere == std::string::npos ? 0 : anywhere;
}

bool IsBackreference(const std::string& escape) {
  return escape.size() == 2 && ((escape[1] >= '1' && escape[1] <= '9') || escape[1] == 'k');
}

// RE2 reports "(?<" both for a lookbehind and for a named group in the syntax of other libraries.
std::string MissingConstruct(const std::string& pattern, size_t at) {
  for (const char* const lookaround : {"(?=", "(?!", "(?<=", "(?<!"})
    if (pattern.compare(at, std::string_view(lookaround).size(), lookaround) == 0)
      return fmt::format("lookaround '{}' is not supported: match the text around the number, and put the group around it",
                         lookaround);
  if (pattern.compare(at, 3, "(?<") == 0) return "write a named group as (?P<name>...)";
  return "";
}

PatternError ErrorIn(const std::string& pattern, const re2::RE2& regex) {
  const std::string& construct = regex.error_arg();
  const size_t at = PlaceOf(construct, pattern);
  std::string why;
  switch (regex.error_code()) {
    case re2::RE2::ErrorBadPerlOp: why = MissingConstruct(pattern, at); break;
    case re2::RE2::ErrorBadEscape:
      if (IsBackreference(construct)) why = fmt::format("backreference '{}' is not supported: write the text again", construct);
      break;
    default: break;
  }
  return {fmt::format("expected a regular expression of RE2, got '{}': {}", pattern, why.empty() ? regex.error() : why), at};
}

}  // namespace

LinePattern::LinePattern(std::shared_ptr<const re2::RE2> regex, std::string begin)
    : regex_(std::move(regex)), begin_(std::move(begin)) {}

std::optional<LinePattern> LinePattern::Make(const std::string& text, PatternError* error) {
  if (text.size() > kMostPattern) {
    *error = {fmt::format("expected a pattern of at most {} bytes, got {}", kMostPattern, text.size())};
    return std::nullopt;
  }
  auto regex = std::make_shared<const re2::RE2>(text, PatternOptions());
  if (!regex->ok()) {
    *error = ErrorIn(text, *regex);
    return std::nullopt;
  }
  if (const int groups = regex->NumberOfCapturingGroups(); groups != 1) {
    *error = {
        fmt::format("expected one group around the number, as in 'return=([-0-9.]+)', got {} in '{}'; (?:...) does not count",
                    groups, text)};
    return std::nullopt;
  }
  return LinePattern(std::move(regex), LiteralBeginning(text));
}

std::vector<LinePattern::Match> LinePattern::MatchesIn(std::string_view line) const {
  line = line.substr(0, kMostLine);
  std::vector<Match> matches;
  if (line.find(begin_) == line.npos) return matches;
  const re2::StringPiece text(line.data(), line.size());
  re2::StringPiece match[2];
  uint64_t work = 0;
  for (size_t from = 0; from <= line.size() && work <= kMostWork;) {
    work += static_cast<uint64_t>(regex_->ProgramSize()) * (line.size() - from);
    if (!regex_->Match(text, from, line.size(), re2::RE2::UNANCHORED, match, 2)) break;
    std::string group(match[1].data() ? match[1].data() : "", match[1].size());
    matches.push_back({NumberOf(group), std::move(group)});
    const size_t end = static_cast<size_t>(match[0].data() - line.data()) + match[0].size();
    from = match[0].empty() ? end + 1 : end;
  }
  return matches;
}

std::vector<double> LinePattern::NumbersIn(std::string_view line) const {
  std::vector<double> numbers;
  for (const Match& match : MatchesIn(line)) numbers.push_back(match.number);
  return numbers;
}

}  // namespace backplane
