#include "yaml/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/format_count.hpp"
#include "base/infinity.hpp"
#include "base/printable.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

// More than any experiment has, and few enough to be read within seconds and within the memory of a small machine.
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxValues = 500000;
constexpr size_t kMaxLineBytes = 1 << 20;

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

// Ends the reading of a document that no error can be read past.
struct Unreadable {
  Mark mark;
  std::string why;
};

// Behind one that has been read whole.
struct SecondDocument {};

// Builds the tree while the parser reads. Rationale: the parser's own tree holds a document whole before its depth and its size
// are known, and an alias in it may contain itself.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const Source> source, Errors* errors) : source_(std::move(source)), errors_(errors) {}

  Node TakeRoot() { return std::move(root_); }
  // Positions in the text: the last scalar that was read, and the open brackets there, the innermost one last.
  std::optional<size_t> last_scalar() const { return last_scalar_; }
  std::vector<size_t> OpenBrackets() const {
    std::vector<size_t> positions;
    for (const Level& level : levels_)
      if (level.flow) positions.push_back(level.position);
    return positions;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_ && mark.pos == begin_.pos) {  // it has found nothing that it could take
      // Of a directive the parser's mark may lie behind its line.
      const size_t line = static_cast<size_t>(mark.line), column = static_cast<size_t>(mark.column);
      const bool within = line < source_->lines.size() && column < source_->lines[line].size();
      throw Unreadable{At(mark), "not valid YAML: a value was expected, found " +
                                     (within ? "'" + source_->lines[line].substr(column, 1) + "'" : std::string("none"))};
    }
    if (started_) throw SecondDocument{};
    started_ = true;
    begin_ = mark;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.mark = IsKey() || IsWritten(mark) ? At(mark) : PlaceOfEmpty();
    Put(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    Node node;
    node.kind = Node::Kind::kScalar;
    node.mark = At(mark);
    node.text = value;
    node.quoted = tag != "?";
    last_scalar_ = static_cast<size_t>(mark.pos);
    if (!IsKey()) CheckScalar(tag, &node);
    Put(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Unreadable{At(mark), "an alias within what it stands for"};
    CountValues(found->second.values, At(mark));
    Put(found->second.node, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Open(Node::Kind::kList, mark, tag, anchor, style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(Node::Kind::kMap, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end has not been read.
  struct Level {
    Node node;
    YAML::anchor_t anchor = 0;
    size_t values_before = 0;
    size_t position = 0;                             // in the text
    bool flow = false;                               // in brackets
    bool is_key = false;                             // of the map around it
    bool has_key = false;                            // of a map: the next node is the value of `key`
    std::optional<Entry> key;                        // absent: the value is not used
    std::unordered_map<std::string, size_t> places;  // of a map's keys among its entries
  };
  struct Anchored {
    Node node;
    size_t values;
  };

  bool IsKey() const { return !levels_.empty() && levels_.back().node.IsMap() && !levels_.back().has_key; }
  Mark At(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  void Add(const Mark& mark, std::string message) {
    if (unused_ == 0) errors_->Add(mark, std::move(message));
  }
  void Reject(Node* node, std::string message) {
    Add(node->mark, std::move(message));
    node->reported = true;
  }

  void CountValues(size_t values, const Mark& mark) {
    values_ += values;
    if (values_ > kMaxValues) {
      throw Unreadable{mark, fmt::format("the document has more than {} values; an alias counts as what it stands for",
                                         FormatCount(kMaxValues))};
    }
  }

  void CheckTag(const std::string& tag, Node* node) {
    if (!tag.empty() && tag != "?" && tag != "!")
      Reject(node, fmt::format("the tag '{}' is not read; write the value without it", tag));
  }

  void CheckScalar(const std::string& tag, Node* node) {
    CheckTag(tag, node);
    if (node->quoted) return;
    if (LooksOctal(node->text)) {
      Reject(node, fmt::format("'{}' could be read as an octal number; drop the leading zero, or quote it if it is text",
                               node->text));
    } else if (LooksNotFinite(node->text) && !ParseInfinity(node->text)) {  // who reads the value may take that one
      Reject(node, fmt::format("'{}' is not a finite number", node->text));
    }
  }

  void Open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style) {
    if (levels_.size() >= kMaxDepth) throw Unreadable{At(mark), fmt::format("nested more than {} levels deep", kMaxDepth)};
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

  void Close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    unused_ -= level.is_key;
    const size_t values = values_ - level.values_before;
    Put(std::move(level.node), level.anchor, values);
  }

  // The parser places an empty value at the token after it, which may be a key called null.
  bool IsWritten(const YAML::Mark& mark) const {
    const size_t line = static_cast<size_t>(mark.line), column = static_cast<size_t>(mark.column);
    if (line >= source_->lines.size() || column >= source_->lines[line].size()) return false;
    const std::string_view text = std::string_view(source_->lines[line]).substr(column);
    const std::string_view word = text.substr(0, text.find_first_of(" ,]}:\r"));
    if (word != "~" && word != "null" && word != "Null" && word != "NULL" && !word.starts_with('&')) return false;
    if (levels_.empty() || levels_.back().flow) return true;
    const Mark around = PlaceOfEmpty();
    return mark.line + 1 == around.line || mark.column + 1 > around.column;
  }

  // The key whose value is empty, or the list with an empty entry.
  Mark PlaceOfEmpty() const {
    if (levels_.empty()) return {source_, 1, 1};
    const Level& level = levels_.back();
    return level.node.IsMap() && level.key ? level.key->mark : level.node.mark;
  }

  // `values` are those within it.
  void Put(Node node, YAML::anchor_t anchor, size_t values = 0) {
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

  void PutEntry(Level* level, Node value) {
    level->key->value = std::move(value);
    level->places.emplace(level->key->key, level->node.entries.size());
    level->node.entries.push_back(std::move(*level->key));
    level->key.reset();
  }

  // Absent after an error.
  std::optional<Entry> KeyOf(const Node& node, const Level& level) {
    if (!node.IsScalar()) {
      Add(node.mark, "a key must be a single word");
      return std::nullopt;
    }
    if (node.text == "<<") {
      Add(node.mark, "merge keys (<<) are not read; put the shared part into a file and name it with 'base:'");
      return std::nullopt;
    }
    if (const auto first = level.places.find(node.text); first != level.places.end()) {
      Add(node.mark,
          fmt::format("duplicate key '{}', already set at {}", node.text, Place(level.node.entries[first->second].mark)));
      return std::nullopt;
    }
    return Entry{node.text, node.mark, {}};
  }

  std::shared_ptr<const Source> source_;
  Errors* errors_;
  Node root_;
  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::optional<size_t> last_scalar_;
  size_t values_ = 0;
  size_t unused_ = 0;  // how many nodes around this one are not used: what is wrong within them is not told
  YAML::Mark begin_;
  bool started_ = false;
};

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
  std::from_chars(text.data(), text.data() + text.size(), index);
  return AllDigits(text) ? index : SIZE_MAX;
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
    found.Add({source, error.mark.line + 1, error.mark.column + 1}, fmt::format("nested more than {} levels deep", kMaxDepth));
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

bool IsTooDeep(const std::string& path) { return static_cast<size_t>(std::count(path.begin(), path.end(), '.')) >= kMaxDepth; }

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
