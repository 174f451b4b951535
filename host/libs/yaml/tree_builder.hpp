// Builds the tree of a document while the parser reads it.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// More than experiments need, but few enough to parse in seconds and within a small machine's memory.
inline constexpr size_t kMaxYamlDepth = 64;
inline constexpr size_t kMaxYamlValues = 500000;

// Ends the reading of a document that no error can be read past.
struct Unreadable {
  Mark mark;
  std::string why;
};

// Thrown at a document after one that has been read whole.
struct SecondDocument {};

// Rationale: the parser's own tree loads a document completely before its depth and its size are known, and an alias in it may
// contain itself.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const Source> source, Errors* errors) : source_(std::move(source)), errors_(errors) {}

  Node TakeRoot() { return std::move(root_); }
  // Positions in the text: the last scalar that was read, and the open brackets there, the innermost one last.
  std::optional<size_t> last_scalar() const { return last_scalar_; }
  std::vector<size_t> OpenBrackets() const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
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
  void Reject(Node* node, std::string message, std::string hint = "");
  // "env_steps: 1e6" for the value of that key.
  std::string WithKey(const std::string& text) const;
  void CountValues(size_t values, const Mark& mark);
  void CheckTag(const std::string& tag, Node* node);
  void CheckScalar(const std::string& tag, Node* node);
  void Open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style);
  void Close();
  bool IsWritten(const YAML::Mark& mark) const;
  // The key whose value is empty, or the list with an empty entry.
  Mark PlaceOfEmpty() const;
  // `values` are those within it.
  void Put(Node node, YAML::anchor_t anchor, size_t values = 0);
  void PutEntry(Level* level, Node value);
  // Absent after an error.
  std::optional<Entry> KeyOf(const Node& node, const Level& level);

  std::shared_ptr<const Source> source_;
  Errors* errors_;
  Node root_;
  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::optional<size_t> last_scalar_;
  size_t values_ = 0;
  size_t unused_ = 0;  // unused nodes around this one; errors within them are not reported
  YAML::Mark begin_;
  bool started_ = false;
};

}  // namespace backplane
