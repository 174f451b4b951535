#include "config/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "config/errors.hpp"

namespace backplane {
namespace {

// An alias can contain itself, and a few aliases of aliases can grow without end.
constexpr int kMaxDepth = 64;
constexpr int kMaxNodes = 100000;

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "010" is 8 to one YAML reader, 10 to another.
bool LooksOctal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0o")) return AllDigits(text.substr(2));
  return text.size() > 1 && text[0] == '0' && AllDigits(text);
}

bool LooksNotFinite(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const char* word : {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"}) {
    if (text == word) return true;
  }
  return false;
}

class Converter {
 public:
  Converter(std::shared_ptr<const Source> source, Errors* errors) : source_(std::move(source)), errors_(errors) {}

  Node Convert(const YAML::Node& yaml, const Mark& fallback, int depth = 0) {
    Node node;
    node.mark = At(yaml.Mark(), fallback);
    if (depth > kMaxDepth || ++count_ > kMaxNodes) {
      if (!too_large_) Reject(&node, "the document is nested too deeply or its aliases repeat without end");
      too_large_ = node.reported = true;
      return node;
    }
    if (!yaml.Tag().empty() && yaml.Tag() != "?" && yaml.Tag() != "!") {
      Reject(&node, fmt::format("the tag '{}' is not read; write the value without it", yaml.Tag()));
    }
    if (yaml.IsScalar()) ConvertScalar(yaml, &node);
    if (yaml.IsSequence()) {
      node.kind = Node::Kind::kList;
      for (const auto& item : yaml) node.items.push_back(Convert(item, node.mark, depth + 1));
    }
    if (yaml.IsMap()) ConvertMap(yaml, &node, depth);
    if (yaml.IsNull()) node.mark = fallback;  // the parser places an empty value wherever it noticed it
    return node;
  }

 private:
  void ConvertScalar(const YAML::Node& yaml, Node* node) {
    node->kind = Node::Kind::kScalar;
    node->text = yaml.Scalar();
    node->quoted = yaml.Tag() != "?";
    if (node->quoted) return;
    if (LooksOctal(node->text)) {
      Reject(node, fmt::format("'{}' could be read as an octal number; drop the leading zero, or quote it if it is text",
                               node->text));
    } else if (LooksNotFinite(node->text)) {
      Reject(node, fmt::format("'{}' is not a finite number", node->text));
    }
  }

  void ConvertMap(const YAML::Node& yaml, Node* node, int depth) {
    node->kind = Node::Kind::kMap;
    for (const auto& pair : yaml) {
      Entry entry;
      entry.mark = At(pair.first.Mark(), node->mark);
      if (!pair.first.IsScalar()) {
        errors_->Add(entry.mark, "a key must be a single word");
        continue;
      }
      entry.key = pair.first.Scalar();
      if (entry.key == "<<") {
        errors_->Add(entry.mark, "merge keys (<<) are not read; put the shared part into a file and name it with 'base:'");
        continue;
      }
      if (const Entry* first = FindEntry(*node, entry.key)) {
        errors_->Add(entry.mark, fmt::format("duplicate key '{}', already set at {}", entry.key, Place(first->mark)));
        continue;
      }
      entry.value = Convert(pair.second, entry.mark, depth + 1);
      node->entries.push_back(std::move(entry));
    }
  }

  Mark At(const YAML::Mark& mark, const Mark& fallback) const {
    return mark.is_null() ? fallback : Mark{source_, mark.line + 1, mark.column + 1};
  }

  void Reject(Node* node, std::string message) {
    errors_->Add(node->mark, std::move(message));
    node->reported = true;
  }

  std::shared_ptr<const Source> source_;
  Errors* errors_;
  int count_ = 0;
  bool too_large_ = false;
};

// A tab counts as one column here and as eight elsewhere, so it never separates anything.
bool RejectTabs(const std::shared_ptr<const Source>& source, Errors* errors) {
  bool found = false;
  for (size_t i = 0; i < source->lines.size(); ++i) {
    const std::string& line = source->lines[i];
    size_t tab = line.find('\t');
    while (tab != std::string::npos) {
      size_t before = line.find_last_not_of(" \t", tab);
      if (before == std::string::npos || line[before] == ':' || line[before] == '-') break;
      tab = line.find('\t', tab + 1);
    }
    if (tab == std::string::npos) continue;
    errors->Add({source, static_cast<int>(i) + 1, static_cast<int>(tab) + 1}, "a tab; use spaces");
    found = true;
  }
  return found;
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
  std::from_chars(text.data(), text.data() + text.size(), index);
  return AllDigits(text) ? index : SIZE_MAX;
}

}  // namespace

std::string Place(const Mark& mark) {
  if (!mark.source) return "";
  return mark.source->is_file ? fmt::format("{}:{}:{}", mark.source->name, mark.line, mark.column) : mark.source->name;
}

std::shared_ptr<Source> MakeSource(std::string name, std::filesystem::path folder, const std::string& text, int order) {
  auto source = std::make_shared<Source>();
  source->name = std::move(name);
  source->folder = std::move(folder);
  source->order = order;
  std::istringstream stream(text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text);
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

std::optional<Node> ParseDocument(const std::string& text, std::shared_ptr<const Source> source, Errors* errors) {
  const Mark start{source, 1, 1};
  if (RejectTabs(source, errors)) return std::nullopt;
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) errors->Add(SecondDocumentMark(source), "a second document; an experiment file holds one");
    Node empty;
    empty.mark = start;
    return documents.empty() ? empty : Converter(source, errors).Convert(documents[0], start);
  } catch (const YAML::Exception& error) {
    bool placed = !error.mark.is_null();
    errors->Add(placed ? Mark{source, error.mark.line + 1, error.mark.column + 1} : start, "not valid YAML: " + error.msg);
    return std::nullopt;
  }
}

const Entry* FindEntry(const Node& map, const std::string& key) {
  for (const Entry& entry : map.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

Entry* FindEntry(Node* map, const std::string& key) { return const_cast<Entry*>(FindEntry(std::as_const(*map), key)); }

const Node* FindPath(const Node& root, const std::string& path) {
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
