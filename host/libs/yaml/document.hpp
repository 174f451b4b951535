// A YAML text as a tree in which every key and value has its source position. Stricter than YAML: values that are easily
// misread are errors.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

class Errors;

// The source of a text.
struct Source {
  std::string name;              // as the user named the file; "--set" for an override
  std::filesystem::path folder;  // relative paths in the text start here
  std::vector<std::string> lines;
  int order = 0;        // errors are reported in this order of sources
  bool is_file = true;  // an override has columns only
};

struct Mark {
  std::shared_ptr<const Source> source;
  int line = 0, column = 0;  // 1-based
};
// "run.yaml:12:5", or only the name if the source is no file.
std::string Place(const Mark& mark);

struct Entry;

struct Node {
  enum class Kind { kNull = 1, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Mark mark;
  std::string text;            // of a scalar
  bool quoted = false;         // quoted text is never a number
  bool reported = false;       // already an error: reading it again would only repeat that
  std::vector<Node> items;     // of a list
  std::vector<Entry> entries;  // of a map, in file order

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
};

struct Entry {
  std::string key;
  Mark mark;  // of the key
  Node value;
  bool under_a_budget = false;  // a file above this one has a `budget:`, which replaces this one's
};

std::shared_ptr<Source> MakeSource(std::string name, std::filesystem::path folder, const std::string& text, int order);
// A source on the command line: `option` is "--set" or similar, `text` its argument.
std::shared_ptr<Source> MakeArgumentSource(std::string option, const std::string& text, int order);

// The tree of `text`; empty if it is not YAML, is nested more than 64 levels deep, has more than 500,000 values (aliases
// expanded) or a line above 1 MiB. An empty text is an empty map. `source` must have the same lines. An unterminated quote,
// bracket or block scalar is an error at its first character.
std::optional<Node> ParseDocument(const std::string& text, const std::shared_ptr<const Source>& source, Errors* errors);
// Parses an argument of the command line in the same way, except that '#' does not start a comment.
std::optional<Node> ParseArgument(const std::string& text, const std::shared_ptr<const Source>& source, Errors* errors);

// True for a path with more parts than a document has levels. Functions that follow a path recurse for each part.
bool IsTooDeep(const std::string& path);

// Access by path: "rollout.threads", "monitors.0.options". NULL: not there.
const Entry* FindEntry(const Node& map, const std::string& key);
Entry* FindEntry(Node* map, const std::string& key);
const Node* FindPath(const Node& root, const std::string& path);
Node* FindPath(Node* root, const std::string& path);
// The place of the key that `path` ends with, or of the nearest mapping above it that exists.
Mark PathMark(const Node& root, const std::string& path);
// Writes `value` at `path` and makes the maps on the way. False: something on the way is no map, or the path has more than 64
// parts.
bool SetPath(Node* root, const std::string& path, const Mark& mark, Node value);

}  // namespace backplane
