#include "yaml/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "yaml/errors.hpp"
#include "yaml/syntax_error.hpp"
#include "yaml/tree_builder.hpp"
#include "yaml/unclosed.hpp"

namespace backplane {
namespace {

// More than any line of an experiment has.
constexpr size_t kMaxLineBytes = 1 << 20;

// A tab counts as one column here and as eight elsewhere, so it never separates anything.
size_t FindTab(const std::string& line) {
  char before = ':';  // the last non-blank character; at the start of a line a tab would be indentation
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t' && (before == ':' || before == '-')) return i;
    if (line[i] != '\t' && line[i] != ' ') before = line[i];
  }
  return std::string::npos;
}

// Two spaces instead of each tab.
std::string WithSpaces(const std::string& line) {
  std::string spaced;
  for (const char c : line) spaced += c == '\t' ? std::string("  ") : std::string(1, c);
  return spaced;
}

// Bytes that a parser would drop or read as the end of the file.
size_t FindControl(const std::string& line) {
  const auto control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  return static_cast<size_t>(std::find_if(line.begin(), line.end(), control) - line.begin());
}

// Looks at the text itself, before it is parsed. False after an error.
bool CheckLines(const std::shared_ptr<const Source>& source, Errors* errors) {
  bool good = true;
  for (size_t i = 0; i < source->lines.size(); ++i) {
    const std::string& line = source->lines[i];
    const auto add = [&](size_t column, std::string message, std::string hint = "") {
      errors->Add({source, static_cast<int>(i) + 1, static_cast<int>(column) + 1}, std::move(message), ErrorCode::kOther,
                  std::move(hint));
      good = false;
    };
    if (line.size() > kMaxLineBytes) {
      add(0, fmt::format("the line has {} bytes, the limit is {}", FormatCount(line.size()), FormatCount(kMaxLineBytes)));
      continue;
    }
    if (const size_t tab = FindTab(line); tab != std::string::npos) add(tab, "expected spaces, got a tab", WithSpaces(line));
    if (const size_t control = FindControl(line); control < line.size()) {
      add(control, "expected text, got the control character " + Printable(line.substr(control, 1)));
    } else if (const size_t bad = FindNotUtf8(line); bad < line.size()) {
      add(bad, "this byte is not valid UTF-8");
    }
  }
  return good;
}

std::string_view WithoutByteOrderMark(std::string_view text) { return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0); }

Mark MarkAt(const std::shared_ptr<const Source>& source, std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position);
  const size_t line_begin = before.rfind('\n') + 1;  // 0 without one
  return {source, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(position - line_begin) + 1};
}

// A character that can replace '#' during parsing, because no escape in the text produces it.
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
    found.Add(SecondDocumentMark(source), "expected one document in an experiment file, got a second one");
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
      const SyntaxError explained = ExplainSyntax(error, source);
      found.Add(explained.mark, explained.what, ErrorCode::kOther, explained.hint);
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
