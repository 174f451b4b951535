#include "yaml/syntax_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace backplane {
namespace {

struct Words {
  std::string_view parser, ours;
};
// By the parser's own text, or how it begins.
const Words kWords[] = {
    {YAML::ErrorMsg::YAML_DIRECTIVE_ARGS, "expected no directive, got '%YAML'"},
    {YAML::ErrorMsg::YAML_VERSION, "expected no directive, got '%YAML'"},
    {YAML::ErrorMsg::YAML_MAJOR_VERSION, "expected no directive, got '%YAML'"},
    {YAML::ErrorMsg::REPEATED_YAML_DIRECTIVE, "expected no directive, got '%YAML'"},
    {YAML::ErrorMsg::TAG_DIRECTIVE_ARGS, "expected no directive, got '%TAG'"},
    {YAML::ErrorMsg::REPEATED_TAG_DIRECTIVE, "expected no directive, got '%TAG'"},
    {YAML::ErrorMsg::CHAR_IN_TAG_HANDLE, "expected a value, got a tag; quote a text that begins with '!'"},
    {YAML::ErrorMsg::TAG_WITH_NO_SUFFIX, "expected a value, got a tag; quote a text that begins with '!'"},
    {YAML::ErrorMsg::END_OF_VERBATIM_TAG, "expected a value, got a tag; quote a text that begins with '!'"},
    {YAML::ErrorMsg::MULTIPLE_TAGS, "expected one value, got two tags"},
    {YAML::ErrorMsg::MULTIPLE_ANCHORS, "expected one anchor, got two; quote a text that begins with '&'"},
    {YAML::ErrorMsg::MULTIPLE_ALIASES, "expected one alias, got two; quote a text that begins with '*'"},
    {YAML::ErrorMsg::ALIAS_CONTENT, "expected an alias or a value, got both; quote a text that begins with '*'"},
    {YAML::ErrorMsg::INVALID_HEX, "expected hexadecimal digits after the backslash; write a backslash twice"},
    {YAML::ErrorMsg::INVALID_UNICODE, "expected the code of a character after the backslash; write a backslash twice"},
    {YAML::ErrorMsg::INVALID_ESCAPE,
     "expected a known letter after the backslash; write a backslash twice, or use single quotes"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, "expected a value; quote a text that begins with this character"},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "expected a closing quote before this line"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "expected a closing quote, got the end of the text"},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, "expected spaces, got a tab"},
    {YAML::ErrorMsg::FLOW_END, "unexpected closing bracket; nothing opens it"},
    {YAML::ErrorMsg::BLOCK_ENTRY, "unexpected '- '; a list begins in its own line, with all '-' in one column"},
    {YAML::ErrorMsg::MAP_KEY, "unexpected '?'; quote a text that begins with it"},
    {YAML::ErrorMsg::MAP_VALUE, "unexpected ':'; expected one key per line, and quotes around a text with ': '"},
    {YAML::ErrorMsg::ALIAS_NOT_FOUND, "expected a name after '*'; quote a text that begins with it"},
    {YAML::ErrorMsg::ANCHOR_NOT_FOUND, "expected a name after '&'; quote a text that begins with it"},
    {YAML::ErrorMsg::CHAR_IN_ALIAS, "expected a name after '*'; quote a text that begins with it"},
    {YAML::ErrorMsg::CHAR_IN_ANCHOR, "expected a name after '&'; quote a text that begins with it"},
    {YAML::ErrorMsg::ZERO_INDENT_IN_BLOCK, "expected an indentation of 1 to 9 after '|' or '>', got 0"},
    {YAML::ErrorMsg::CHAR_IN_BLOCK, "expected the end of the line after '|' or '>'"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, "the alias has no anchor above it; quote a text that begins with '*'"},
};

size_t IndentOf(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool IsBlank(const std::string& line) { return IndentOf(line) == line.size() || line[IndentOf(line)] == '#'; }

// "gamma: 0.98" for "gamma:0.98"; absent: the line has no such colon.
std::optional<SyntaxError> MissingSpace(const std::shared_ptr<const Source>& source, int number) {
  const std::string& line = source->lines[static_cast<size_t>(number) - 1];
  const size_t begin = IndentOf(line), colon = line.find(':');
  const bool is_key = colon != line.npos && colon > begin && line.find_first_of(" '\"[{#", begin) > colon;
  if (!is_key || colon + 1 >= line.size() || line[colon + 1] == ' ' || line[colon + 1] == ':') return std::nullopt;
  if (line.find(": ") != line.npos || line.compare(colon, 3, "://") == 0) return std::nullopt;
  const std::string key = line.substr(begin, colon - begin), value = line.substr(colon + 1);
  return SyntaxError{{source, number, static_cast<int>(begin) + 1},
                     fmt::format("expected a space after '{}:', got '{}'", key, value.substr(0, 1)),
                     key + ": " + value};
}

// A line whose indentation is none of the levels above it.
std::optional<SyntaxError> WrongIndent(const std::shared_ptr<const Source>& source, int number) {
  const auto at = [&](int n) -> const std::string& { return source->lines[static_cast<size_t>(n) - 1]; };
  const size_t indent = IndentOf(at(number));
  std::set<size_t> levels;
  size_t least = std::string::npos;
  for (int n = number - 1; n >= 1; --n) {
    if (IsBlank(at(n)) || IndentOf(at(n)) >= least) continue;
    least = IndentOf(at(n));
    levels.insert(least);
  }
  if (levels.empty() || levels.contains(indent)) return std::nullopt;
  auto above = levels.lower_bound(indent);
  const size_t nearest = above != levels.end() && (above == levels.begin() || *above - indent <= indent - *std::prev(above))
                             ? *above
                             : *std::prev(above);
  std::string text;
  for (const size_t level : levels)
    text += fmt::format("{}{}", text.empty() ? "" : level == *levels.rbegin() ? " or " : ", ", level);
  return SyntaxError{{source, number, static_cast<int>(indent) + 1},
                     fmt::format("expected an indentation of {} spaces, got {}", text, indent),
                     std::string(nearest, ' ') + at(number).substr(indent)};
}

}  // namespace

SyntaxError ExplainSyntax(const YAML::Exception& error, const std::shared_ptr<const Source>& source) {
  const bool placed = !error.mark.is_null();
  const int last = static_cast<int>(source->lines.size());
  const Mark mark{source, placed ? error.mark.line + 1 : 1, placed ? error.mark.column + 1 : 1};
  for (int number = std::min(mark.line, last); number >= 1; --number) {
    if (IsBlank(source->lines[static_cast<size_t>(number) - 1])) continue;
    if (std::optional<SyntaxError> space = MissingSpace(source, number)) return *std::move(space);
    if (number < mark.line) break;  // the line of the error and the one above it
  }
  if (mark.line <= last)
    if (std::optional<SyntaxError> indent = WrongIndent(source, mark.line)) return *std::move(indent);
  for (const Words& words : kWords)
    if (error.msg.starts_with(words.parser)) return {mark, std::string(words.ours), ""};
  const bool within =
      mark.line <= last && static_cast<size_t>(mark.column) <= source->lines[static_cast<size_t>(mark.line) - 1].size();
  const std::string found =
      within ? fmt::format("'{}'", source->lines[static_cast<size_t>(mark.line) - 1][static_cast<size_t>(mark.column) - 1])
             : "the end of the line";
  return {mark, "expected 'KEY: VALUE' in the column of the keys above, got " + found, ""};
}

}  // namespace backplane
