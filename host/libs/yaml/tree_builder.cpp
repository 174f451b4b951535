#include "yaml/tree_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/format_count.hpp"
#include "base/infinity.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "010" is 8 to one YAML reader, 10 to another.
bool LooksOctal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0o")) return AllDigits(text.substr(2));
  return text.size() > 1 && text[0] == '0' && AllDigits(text);
}

// "!!float" of "tag:yaml.org,2002:float".
std::string ShortTag(const std::string& tag) {
  constexpr std::string_view kStandard = "tag:yaml.org,2002:";
  return tag.starts_with(kStandard) ? "!!" + tag.substr(kStandard.size()) : tag;
}

bool LooksNotFinite(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const char* word : {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"}) {
    if (text == word) return true;
  }
  return false;
}

}  // namespace

std::vector<size_t> TreeBuilder::OpenBrackets() const {
  std::vector<size_t> positions;
  for (const Level& level : levels_)
    if (level.flow) positions.push_back(level.position);
  return positions;
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (started_ && mark.pos == begin_.pos) {  // no value was found
    // The parser's mark of a directive may be behind its line.
    const size_t line = static_cast<size_t>(mark.line), column = static_cast<size_t>(mark.column);
    const bool within = line < source_->lines.size() && column < source_->lines[line].size();
    throw Unreadable{At(mark), "not valid YAML: expected a value, got " +
                                   (within ? "'" + source_->lines[line].substr(column, 1) + "'" : std::string("none"))};
  }
  if (started_) throw SecondDocument{};
  started_ = true;
  begin_ = mark;
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Node node;
  node.mark = IsKey() || IsWritten(mark) ? At(mark) : PlaceOfEmpty();
  Put(std::move(node), anchor);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.mark = At(mark);
  node.text = value;
  node.quoted = tag != "?";
  last_scalar_ = static_cast<size_t>(mark.pos);
  if (!IsKey()) CheckScalar(tag, &node);
  Put(std::move(node), anchor);
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchored_.find(anchor);
  if (found == anchored_.end()) throw Unreadable{At(mark), "the alias refers to a value that contains it"};
  CountValues(found->second.values, At(mark));
  Put(found->second.node, 0);
}

void TreeBuilder::Reject(Node* node, std::string message, std::string hint) {
  if (unused_ == 0) errors_->Add(node->mark, std::move(message), ErrorCode::kOther, std::move(hint));
  node->reported = true;
}

void TreeBuilder::CountValues(size_t values, const Mark& mark) {
  values_ += values;
  if (values_ > kMaxYamlValues) {
    throw Unreadable{mark, fmt::format("the document has more than {} values; an alias counts as all values that it refers to",
                                       FormatCount(kMaxYamlValues))};
  }
}

std::string TreeBuilder::WithKey(const std::string& text) const {
  const bool has_key = !levels_.empty() && levels_.back().node.IsMap() && levels_.back().key;
  return text.empty() ? "" : (has_key ? levels_.back().key->key + ": " : "") + text;
}

void TreeBuilder::CheckTag(const std::string& tag, Node* node) {
  if (!tag.empty() && tag != "?" && tag != "!")
    Reject(node, fmt::format("expected a value without a tag, got the tag '{}'", ShortTag(tag)), WithKey(node->text));
}

void TreeBuilder::CheckScalar(const std::string& tag, Node* node) {
  CheckTag(tag, node);
  if (node->quoted) return;
  if (LooksOctal(node->text)) {
    Reject(node,
           fmt::format("'{}' looks like an octal number; remove the leading zero, or quote it if it is text", node->text));
  } else if (LooksNotFinite(node->text) && !ParseInfinity(node->text)) {  // the reader of the value may accept it
    Reject(node, fmt::format("expected a finite number, got '{}'", node->text));
  }
}

void TreeBuilder::Open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) {
  if (levels_.size() >= kMaxYamlDepth)
    throw Unreadable{At(mark), fmt::format("nested more than {} levels deep", kMaxYamlDepth)};
  Level level;
  level.is_key = IsKey();
  level.node.kind = kind;
  level.node.mark = At(mark);
  level.position = static_cast<size_t>(mark.pos);
  level.flow = style == YAML::EmitterStyle::Flow;
  level.anchor = anchor;
  level.values_before = values_;
  unused_ += level.is_key;
  if (!level.is_key) CheckTag(tag, &level.node);
  levels_.push_back(std::move(level));
}

void TreeBuilder::Close() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  unused_ -= level.is_key;
  const size_t values = values_ - level.values_before;
  Put(std::move(level.node), level.anchor, values);
}

// The parser places an empty value at the token after it, which may be a key called null.
bool TreeBuilder::IsWritten(const YAML::Mark& mark) const {
  const size_t line = static_cast<size_t>(mark.line), column = static_cast<size_t>(mark.column);
  if (line >= source_->lines.size() || column >= source_->lines[line].size()) return false;
  const std::string_view text = std::string_view(source_->lines[line]).substr(column);
  const std::string_view word = text.substr(0, text.find_first_of(" ,]}:\r"));
  if (word != "~" && word != "null" && word != "Null" && word != "NULL" && !word.starts_with('&')) return false;
  if (levels_.empty() || levels_.back().flow) return true;
  const Mark around = PlaceOfEmpty();
  return mark.line + 1 == around.line || mark.column + 1 > around.column;
}

Mark TreeBuilder::PlaceOfEmpty() const {
  if (levels_.empty()) return {source_, 1, 1};
  const Level& level = levels_.back();
  return level.node.IsMap() && level.key ? level.key->mark : level.node.mark;
}

void TreeBuilder::Put(Node node, YAML::anchor_t anchor, size_t values) {
  if (!IsKey()) CountValues(1, node.mark);
  if (anchor != 0) {
    CountValues(values, node.mark);
    anchored_.insert_or_assign(anchor, Anchored{node, values + 1});
  }
  if (levels_.empty()) {
    root_ = std::move(node);
    return;
  }
  Level& level = levels_.back();
  if (level.node.IsList()) {
    level.node.items.push_back(std::move(node));
  } else if (!level.has_key) {
    level.has_key = true;
    level.key = KeyOf(node, level);
    unused_ += !level.key;
  } else {
    level.has_key = false;
    unused_ -= !level.key;
    if (level.key) PutEntry(&level, std::move(node));
  }
}

void TreeBuilder::PutEntry(Level* level, Node value) {
  level->key->value = std::move(value);
  level->places.emplace(level->key->key, level->node.entries.size());
  level->node.entries.push_back(std::move(*level->key));
  level->key.reset();
}

std::optional<Entry> TreeBuilder::KeyOf(const Node& node, const Level& level) {
  if (!node.IsScalar()) {
    Add(node.mark, "expected a text as key, got a list or a mapping");
    return std::nullopt;
  }
  if (node.text == "<<") {
    Add(node.mark, "merge keys (<<) are not supported; move the shared part to a file and name it in 'base:'");
    return std::nullopt;
  }
  if (const auto first = level.places.find(node.text); first != level.places.end()) {
    Add(node.mark,
        fmt::format("duplicate key '{}', already set at {}", node.text, Place(level.node.entries[first->second].mark)));
    return std::nullopt;
  }
  return Entry{node.text, node.mark, {}};
}

}  // namespace backplane
