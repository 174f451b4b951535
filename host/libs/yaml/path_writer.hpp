// Finds and writes many paths in one tree. FindPath and SetPath compare a key with every entry of its mapping. If tens of
// thousands of paths end in one mapping, that takes minutes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "yaml/document.hpp"

namespace backplane {

// The tree must not change otherwise while this is in use.
class PathWriter {
 public:
  explicit PathWriter(Node* root) : root_(root) {}

  // As FindPath.
  const Node* Find(const std::string& path);
  // As SetPath.
  bool Set(const std::string& path, const Mark& mark, Node value);

 private:
  using Places = std::unordered_map<std::string, size_t>;  // of a mapping's keys among its entries

  // The node that contains the last part of `path`, or the first non-mapping on the path. NULL: missing. `make` creates missing
  // ones.
  Node* NodeAbove(const std::string& path, bool make, const Mark& mark);
  // NULL: no such key. `at` is the path of `map`.
  Entry* FindIn(Node* map, std::string_view at, const std::string& key);
  Entry& AddTo(Node* map, std::string_view at, Entry entry);

  Node* root_;
  std::map<std::string, Places, std::less<>> places_;  // of large mappings, by path
};

}  // namespace backplane
