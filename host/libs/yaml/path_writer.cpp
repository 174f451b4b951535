#include "yaml/path_writer.hpp"

#include <utility>

namespace backplane {
namespace {

constexpr size_t kFewEntries = 32;  // below this number, comparing all keys is faster than a table

}  // namespace

Entry* PathWriter::FindIn(Node* map, std::string_view at, const std::string& key) {
  if (map->entries.size() <= kFewEntries) return FindEntry(map, key);
  auto known = places_.find(at);
  if (known == places_.end()) {
    known = places_.emplace(std::string(at), Places()).first;
    known->second.reserve(map->entries.size());
    for (size_t i = 0; i < map->entries.size(); ++i) known->second.emplace(map->entries[i].key, i);
  }
  const auto found = known->second.find(key);
  return found == known->second.end() ? nullptr : &map->entries[found->second];
}

Entry& PathWriter::AddTo(Node* map, std::string_view at, Entry entry) {
  if (const auto known = places_.find(at); known != places_.end()) known->second.emplace(entry.key, map->entries.size());
  return map->entries.emplace_back(std::move(entry));
}

Node* PathWriter::NodeAbove(const std::string& path, bool make, const Mark& mark) {
  Node* node = root_;
  for (size_t from = 0, dot = path.find('.'); dot != std::string::npos; from = dot + 1, dot = path.find('.', from)) {
    if (make && node->IsNull()) node->kind = Node::Kind::kMap;
    if (!node->IsMap()) return node;
    const std::string_view at = std::string_view(path).substr(0, from);
    const std::string key = path.substr(from, dot - from);
    Entry* entry = FindIn(node, at, key);
    if (!entry && !make) return nullptr;
    if (!entry) {
      Node empty;
      empty.mark = mark;
      entry = &AddTo(node, at, Entry{key, mark, std::move(empty)});
    }
    node = &entry->value;
  }
  if (make && node->IsNull()) node->kind = Node::Kind::kMap;
  return node;
}

const Node* PathWriter::Find(const std::string& path) {
  if (IsTooDeep(path)) return nullptr;
  Node* const map = NodeAbove(path, /*make=*/false, {});
  if (!map) return nullptr;
  if (map->IsList()) return FindPath(std::as_const(*root_), path);
  const size_t last = path.rfind('.') + 1;  // 0 without a dot
  const Entry* const entry = FindIn(map, std::string_view(path).substr(0, last), path.substr(last));
  return entry ? &entry->value : nullptr;
}

bool PathWriter::Set(const std::string& path, const Mark& mark, Node value) {
  if (IsTooDeep(path)) return false;
  Node* const map = NodeAbove(path, /*make=*/true, mark);
  if (!map->IsMap()) return SetPath(root_, path, mark, std::move(value));  // below a list, or an error
  const size_t last = path.rfind('.') + 1;
  const std::string_view at = std::string_view(path).substr(0, last);
  const std::string key = path.substr(last);
  if (Entry* const entry = FindIn(map, at, key)) {
    // Forget the mappings that it replaces.
    const std::string below = path + ".";
    places_.erase(places_.lower_bound(below), places_.lower_bound(path + "/"));  // '/' comes after '.'
    entry->mark = mark;
    entry->value = std::move(value);
  } else {
    AddTo(map, at, Entry{key, mark, std::move(value)});
  }
  return true;
}

}  // namespace backplane
