#include "yaml/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "yaml/errors.hpp"
#include "yaml/tree_builder.hpp"

namespace backplane {
namespace {

// More than any line of an experiment has.
constexpr size_t kMaxLineBytes = 1 << 20;

// A tab counts as one column here and as eight elsewhere, so it never separates anything.
size_t FindTab(const std::string& line) {
  char before = ':';  // the last character that is no blank; at the beginning of a line a tab would be indentation
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t' && (before == ':' || before == '-')) return i;
    if (line[i] != '\t' && line[i] != ' ') before = line[i];
  }
  return std::string::npos;
}

// What a parser would drop, or take for the end of the file.
size_t FindControl(const std::string& line) {
  const auto control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  return static_cast<size_t>(std::find_if(line.begin(), line.end(), control) - line.begin());
}

// Looks at the text itself, before it is parsed. False after an error.
bool CheckLines(const std::shared_ptr<const Source>& source, Errors* errors) {
  bool good = true;
  for (size_t i = 0; i < source->lines.size(); ++i) {
    const std::string& line = source->lines[i];
    const auto add = [&](size_t column, std::string message) {
      errors->Add({source, static_cast<int>(i) + 1, static_cast<int>(column) + 1}, std::move(message));
      good = false;
    };
    if (line.size() > kMaxLineBytes) {
      add(0, fmt::format("the line is {} bytes long; a line has at most {}", FormatCount(line.size()),
                         FormatCount(kMaxLineBytes)));
      continue;
    }
    if (const size_t tab = FindTab(line); tab != std::string::npos) add(tab, "a tab; use spaces");
    if (const size_t control = FindControl(line); control < line.size()) {
      add(control, "a control character (" + Printable(line.substr(control, 1)) + "), which is no part of a text");
    } else if (const size_t bad = FindNotUtf8(line); bad < line.size()) {
      add(bad, "a byte that is not UTF-8");
    }
  }
  return good;
}

std::string_view WithoutByteOrderMark(std::string_view text) { return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0); }

void Parse(const std::string& text, TreeBuilder* builder) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(*builder)) {
  }
}

// A quote, a bracket or a block scalar without an end.
struct Opening {
  size_t position;  // of its first character in the text
  std::string why;
};

Mark MarkAt(const std::shared_ptr<const Source>& source, std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position);
  const size_t line_begin = before.rfind('\n') + 1;  // 0 without one
  return {source, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(position - line_begin) + 1};
}

// The value of a node begins behind its anchor and its tag.
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
    if (text[end] != '#' || column > indent) return false;  // an indented '#' begins a line of the scalar
  }
  return true;
}

// Rationale: the parser accepts a quote that the end of the file closes. The last scalar is the only one that can be open.
std::optional<Opening> FindOpenScalar(std::string_view text, std::optional<size_t> last_scalar) {
  if (!last_scalar) return std::nullopt;
  const size_t at = SkipProperties(text, *last_scalar);
  if (IsOpenQuote(text, at)) return Opening{at, fmt::format("expected a closing {}, got the end of the text", text[at])};
  if (IsBlockWithoutLines(text, at))
    return Opening{at,
                   fmt::format("expected indented lines after '{}', got the end of the text; an empty text is ''", text[at])};
  return std::nullopt;
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

// The innermost one of `brackets`, which are positions, that the parser cannot close; `error` is where it gave up.
std::optional<Opening> FindOpenBracket(std::string_view text, size_t error, std::vector<size_t> brackets) {
  for (; !brackets.empty(); brackets.pop_back()) {
    const size_t at = SkipProperties(text, brackets.back());
    if (at >= text.size() || (text[at] != '[' && text[at] != '{')) continue;  // a pair without brackets of its own
    const char close = text[at] == '[' ? ']' : '}';
    if (EndsAt(text, error)) return Opening{at, fmt::format("expected a closing '{}', got the end of the text", close)};
    const std::string_view before = text.substr(0, error);
    return Opening{at, fmt::format("expected ',' or a closing '{}', got '{}' in line {}, column {}", close, text[error],
                                   std::count(before.begin(), before.end(), '\n') + 1, error - (before.rfind('\n') + 1) + 1)};
  }
  return std::nullopt;
}

// Finds the opening that causes a parser error. Absent: the error has a different cause.
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

// A character that may stand for '#' while a text is parsed: one that no escape in it can mean.
char StandIn(const std::string& text) {
  for (char c = 1; c < 4; ++c)
    if (text.find(fmt::format("{:02x}", static_cast<int>(c))) == std::string::npos) return c;
  return 0x1f;
}

void PutBack(char hash, Node* node) {
  std::replace(node->text.begin(), node->text.end(), hash, '#');
  for (Node& item : node->items) PutBack(hash, &item);
  for (Entry& entry : node->entries) {
    std::replace(entry.key.begin(), entry.key.end(), hash, '#');
    PutBack(hash, &entry.value);
  }
}

Mark SecondDocumentMark(const std::shared_ptr<const Source>& source) {
  bool seen = false;
  for (size_t i = 0; i < source->lines.size(); ++i) {
    const std::string& line = source->lines[i];
    if (seen && line.starts_with("---")) return {source, static_cast<int>(i) + 1, 1};
    size_t first = line.find_first_not_of(" \r");
    seen = seen || (first != std::string::npos && line[first] != '#' && line[first] != '%');
  }
  return {source, 1, 1};
}

size_t IndexOf(const std::string& text) {
  size_t index = SIZE_MAX;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  return error == std::errc() && stop == end ? index : SIZE_MAX;
}

}  // namespace

std::string Place(const Mark& mark) {
  if (!mark.source) return "";
  if (!mark.source->is_file) return mark.source->name;
  return mark.source->name + ':' + std::to_string(mark.line) + ':' + std::to_string(mark.column);
}

std::shared_ptr<Source> MakeSource(std::string name, std::filesystem::path folder, const std::string& text, int order) {
  auto source = std::make_shared<Source>();
  source->name = std::move(name);
  source->folder = std::move(folder);
  source->order = order;
  std::istringstream stream{std::string(WithoutByteOrderMark(text))};
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    source->lines.push_back(line);
  }
  return source;
}

std::shared_ptr<Source> MakeArgumentSource(std::string option, const std::string& text, int order) {
  auto source = MakeSource(std::move(option), std::filesystem::current_path(), text, order);
  source->is_file = false;
  return source;
}

std::optional<Node> ParseDocument(const std::string& text, const std::shared_ptr<const Source>& source, Errors* errors) {
  if (!CheckLines(source, errors)) return std::nullopt;
  const std::string_view whole = WithoutByteOrderMark(text);
  Errors found;
  TreeBuilder builder(source, &found);
  std::optional<Opening> open;
  try {
    Parse(text, &builder);
    open = FindOpenScalar(whole, builder.last_scalar());
  } catch (const SecondDocument&) {
    found.Add(SecondDocumentMark(source), "a second document; an experiment file holds one");
  } catch (const Unreadable& error) {
    found.Add(error.mark, error.why);
    errors->Append(found);
    return std::nullopt;
  } catch (const YAML::DeepRecursion& error) {
    found.Add({source, error.mark.line + 1, error.mark.column + 1},
              fmt::format("nested more than {} levels deep", kMaxYamlDepth));
    errors->Append(found);
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const bool placed = !error.mark.is_null();
    if (placed) open = FindOpening(whole, error, builder, source);
    if (!open) {
      found.Add(placed ? Mark{source, error.mark.line + 1, error.mark.column + 1} : Mark{source, 1, 1},
                "not valid YAML: " + error.msg);
      errors->Append(found);
      return std::nullopt;
    }
  }
  if (open) {  // errors found within it are consequences
    errors->Add(MarkAt(source, whole, open->position), open->why);
    return std::nullopt;
  }
  errors->Append(found);
  Node root = builder.TakeRoot();
  if (!root.mark.source) root.mark = {source, 1, 1};
  return root;
}

std::optional<Node> ParseArgument(const std::string& text, const std::shared_ptr<const Source>& source, Errors* errors) {
  const char hash = StandIn(text);
  std::string changed = text;
  std::replace(changed.begin(), changed.end(), '#', hash);
  std::optional<Node> root = ParseDocument(changed, source, errors);
  if (root && changed != text) PutBack(hash, &*root);
  return root;
}

bool IsTooDeep(const std::string& path) {
  return static_cast<size_t>(std::count(path.begin(), path.end(), '.')) >= kMaxYamlDepth;
}

const Entry* FindEntry(const Node& map, const std::string& key) {
  for (const Entry& entry : map.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

Entry* FindEntry(Node* map, const std::string& key) { return const_cast<Entry*>(FindEntry(std::as_const(*map), key)); }

const Node* FindPath(const Node& root, const std::string& path) {
  if (IsTooDeep(path)) return nullptr;
  size_t dot = path.find('.');
  std::string head = path.substr(0, dot);
  const Node* child = nullptr;
  if (root.IsList()) {
    size_t index = IndexOf(head);
    if (index < root.items.size()) child = &root.items[index];
  } else if (const Entry* entry = FindEntry(root, head)) {
    child = &entry->value;
  }
  return !child || dot == std::string::npos ? child : FindPath(*child, path.substr(dot + 1));
}

Node* FindPath(Node* root, const std::string& path) { return const_cast<Node*>(FindPath(std::as_const(*root), path)); }

Mark PathMark(const Node& root, const std::string& path) {
  if (IsTooDeep(path)) return root.mark;
  size_t dot = path.rfind('.');
  std::string parent = dot == std::string::npos ? "" : path.substr(0, dot);
  const Node* above = parent.empty() ? &root : FindPath(root, parent);
  if (above) {
    if (const Entry* entry = FindEntry(*above, path.substr(parent.empty() ? 0 : dot + 1))) return entry->mark;
    if (const Node* item = above->IsList() ? FindPath(root, path) : nullptr) return item->mark;
  }
  return parent.empty() ? root.mark : PathMark(root, parent);
}

bool SetPath(Node* root, const std::string& path, const Mark& mark, Node value) {
  if (IsTooDeep(path)) return false;
  size_t dot = path.find('.');
  std::string head = path.substr(0, dot);
  bool last = dot == std::string::npos;
  if (root->IsList()) {
    size_t index = IndexOf(head);
    if (index >= root->items.size()) return false;
    if (!last) return SetPath(&root->items[index], path.substr(dot + 1), mark, std::move(value));
    root->items[index] = std::move(value);
    return true;
  }
  if (root->IsScalar()) return false;
  root->kind = Node::Kind::kMap;
  Entry* entry = FindEntry(root, head);
  if (!entry) {
    Node empty;
    empty.mark = mark;
    entry = &root->entries.emplace_back(Entry{head, mark, std::move(empty)});
  }
  if (!last) return SetPath(&entry->value, path.substr(dot + 1), mark, std::move(value));
  entry->mark = mark;
  entry->value = std::move(value);
  return true;
}

}  // namespace backplane
