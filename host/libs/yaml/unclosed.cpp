#include "yaml/unclosed.hpp"

#include <fmt/format.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace backplane {
namespace {

// Skips a node's anchor and tag; its value follows.
size_t SkipProperties(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \r\n", at), text.size());
  }
  return at;
}

bool IsOpenQuote(std::string_view text, size_t at) {
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return false;
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    const bool doubled = quote == '\'' && text[i] == quote && i + 1 < text.size() && text[i + 1] == quote;
    if (doubled || (quote == '"' && text[i] == '\\')) {
      ++i;
    } else if (text[i] == quote) {
      return false;
    }
  }
  return true;
}

// A block scalar whose head is followed only by blank lines and comments.
bool IsBlockWithoutLines(std::string_view text, size_t at) {
  if (at >= text.size() || (text[at] != '|' && text[at] != '>')) return false;
  const size_t line = text.rfind('\n', at) + 1;  // 0 without one
  const size_t indent = text.find_first_not_of(' ', line) - line;
  for (size_t end = text.find('\n', at); end != text.npos; end = text.find('\n', end)) {
    end = text.find_first_not_of(" \r\n", end);
    if (end == text.npos) return true;
    const size_t column = end - (text.rfind('\n', end) + 1);
    if (text[end] != '#' || column > indent) return false;  // an indented '#' is part of the scalar
  }
  return true;
}

// The end of the text, or a mark between documents.
bool EndsAt(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  const bool begins_line = at == 0 || (at <= text.size() && text[at - 1] == '\n');
  return rest.find_first_not_of(" \r\n") == rest.npos || (begins_line && (rest.starts_with("---") || rest.starts_with("...")));
}

// The last scalar and the open brackets at the end of a text that may end anywhere.
struct Opened {
  std::optional<size_t> last_scalar;
  std::vector<size_t> brackets;
};

// The parser reads ahead, so it stops before it reports the scalar and the brackets around an error. It reports them if the
// text ends at the error.
Opened ReadOpened(const std::string& text, const std::shared_ptr<const Source>& source) {
  Errors unread = Errors::OfOnePoint(nullptr);
  TreeBuilder builder(source, &unread);
  try {
    Parse(text, &builder);
  } catch (const YAML::Exception&) {
  } catch (const Unreadable&) {
  } catch (const SecondDocument&) {
  }
  return {builder.last_scalar(), builder.OpenBrackets()};
}

// The innermost of `brackets` (positions) that the parser cannot close; `error` is the position of its failure.
std::optional<Opening> FindOpenBracket(std::string_view text, size_t error, std::vector<size_t> brackets) {
  for (; !brackets.empty(); brackets.pop_back()) {
    const size_t at = SkipProperties(text, brackets.back());
    if (at >= text.size() || (text[at] != '[' && text[at] != '{')) continue;  // a pair without brackets
    const char close = text[at] == '[' ? ']' : '}';
    if (EndsAt(text, error)) return Opening{at, fmt::format("expected a closing '{}', got the end of the text", close)};
    const std::string_view before = text.substr(0, error);
    return Opening{at, fmt::format("expected ',' or a closing '{}', got '{}' in line {}, column {}", close, text[error],
                                   std::count(before.begin(), before.end(), '\n') + 1, error - (before.rfind('\n') + 1) + 1)};
  }
  return std::nullopt;
}

}  // namespace

void Parse(const std::string& text, TreeBuilder* builder) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(*builder)) {
  }
}

std::optional<Opening> FindOpenScalar(std::string_view text, std::optional<size_t> last_scalar) {
  if (!last_scalar) return std::nullopt;
  const size_t at = SkipProperties(text, *last_scalar);
  if (IsOpenQuote(text, at)) return Opening{at, fmt::format("expected a closing {}, got the end of the text", text[at])};
  if (IsBlockWithoutLines(text, at))
    return Opening{at,
                   fmt::format("expected indented lines after '{}', got the end of the text; an empty text is ''", text[at])};
  return std::nullopt;
}

std::optional<Opening> FindOpening(std::string_view text, const YAML::Exception& error, const TreeBuilder& builder,
                                   const std::shared_ptr<const Source>& source) {
  const size_t at = std::min(static_cast<size_t>(error.mark.pos), text.size());
  if (std::optional<Opening> open = FindOpenScalar(text, builder.last_scalar())) return open;
  if (std::optional<Opening> open = FindOpenScalar(text, at)) return open;
  const bool at_end = EndsAt(text, at);
  const bool in_brackets = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW || error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW ||
                           error.msg == YAML::ErrorMsg::FLOW_END;
  if (!at_end && !in_brackets) return std::nullopt;
  const std::string before = std::string(text.substr(0, at)) + "\n";
  const Opened opened = ReadOpened(before, source);
  if (at_end) {
    if (std::optional<Opening> open = FindOpenScalar(before, opened.last_scalar)) return open;
  }
  return FindOpenBracket(text, at, opened.brackets);
}

}  // namespace backplane
