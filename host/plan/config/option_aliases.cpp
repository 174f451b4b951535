#include "config/option_aliases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_path.hpp"
#include "config/command.hpp"
#include "contract/schema.hpp"
#include "plugin/option_table.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr const char *kEvaluationOptions = "evaluation.env.options", *kLearnerOptions = "learner.options";

void AddBothSet(const Entry& alias, const std::string& target, const Mark& other, Errors* errors) {
  std::string place = Place(other);
  errors->Add(alias.mark, fmt::format("'{}' is another name of '{}', which is also set{}; keep one of them", alias.key, target,
                                      place.empty() ? "" : " at " + place));
}

void MoveTo(const std::string& target, Node* root, Entry entry, Errors* errors) {
  if (FindPath(*root, target)) {
    AddBothSet(entry, target, PathMark(*root, target), errors);
  } else if (!SetPath(root, target, entry.mark, std::move(entry.value))) {
    errors->Add(entry.mark,
                fmt::format("'{}' is another name of '{}', which cannot be set, because its parent key is not a mapping",
                            entry.key, target));
  }
}

// The number of options that a list sets: 2 for "healthy_z_range[0]" and "healthy_z_range[1]".
size_t CountEntries(const OptionTable& table, const std::string& key) {
  size_t n = 0;
  while (table.Find(fmt::format("{}[{}]", key, n))) ++n;
  return n;
}

// Each entry of such a list on its own, by the names of the table.
void SpreadLists(const OptionTable& table, Node* map, Errors* errors) {
  std::vector<Entry> spread;
  for (Entry& entry : map->entries) {
    const size_t n = table.Find(entry.key) ? 0 : CountEntries(table, entry.key);
    if (n == 0) {
      spread.push_back(std::move(entry));
    } else if (!entry.value.IsList() || entry.value.items.size() != n) {
      errors->Add(entry.value.mark,
                  fmt::format("{}: expected a list of {} values, got {}", entry.key, n,
                              entry.value.IsList() ? fmt::format("{}", entry.value.items.size()) : Describe(entry.value)));
    } else {
      for (size_t i = 0; i < n; ++i)
        spread.push_back({fmt::format("{}[{}]", entry.key, i), entry.value.items[i].mark, entry.value.items[i]});
    }
  }
  map->entries = std::move(spread);
}

// A host key by another name that the learner's table does not have: one mapping often holds both kinds of settings.
const HostKey* HostKeyAmong(const std::string& options_path, const OptionTable& table, const Entry& entry) {
  const bool may_be = options_path == kLearnerOptions && !IsOfCommand(table) && !table.Find(entry.key);
  return may_be ? FindHostKeyByAlias(entry.key) : nullptr;
}

struct SortedEntries {
  std::vector<Entry> kept;                                 // they have the names of the table
  std::vector<std::pair<Entry, const OptionInfo*>> moved;  // the option is NULL if the name is a host key's
};

SortedEntries SortEntries(const Node& map, const std::string& options_path, const OptionTable& table, Errors* errors) {
  SortedEntries sorted;
  std::vector<Entry>& kept = sorted.kept;
  const auto find_kept = [&](const std::string& key) -> const Entry* {
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == kept.end() ? nullptr : &*found;
  };
  for (const Entry& entry : map.entries) {
    const TableOption* known = table.Find(entry.key);
    const OptionInfo* option = known ? known->info : nullptr;
    if (known && known->host_key) {
      const bool is_replaced = entry.under_a_budget && known->host_key->path.starts_with("budget.");
      if (!is_replaced) sorted.moved.emplace_back(entry, option);
    } else if (HostKeyAmong(options_path, table, entry)) {
      sorted.moved.emplace_back(entry, nullptr);
    } else if (!option || entry.key == option->path) {
      kept.push_back(entry);
    } else if (const Entry* target = FindEntry(map, option->path)) {
      AddBothSet(entry, option->path, target->mark, errors);
    } else if (const Entry* other = find_kept(option->path)) {
      AddBothSet(entry, option->path, other->mark, errors);
    } else {
      kept.push_back(entry);
      kept.back().key = option->path;
    }
  }
  return sorted;
}

void RewriteIn(Node* root, const std::string& options_path, const OptionTable& table, Errors* errors) {
  Node* map = FindPath(root, options_path);
  if (!map || !map->IsMap()) return;
  SpreadLists(table, map, errors);
  const bool plain = std::all_of(map->entries.begin(), map->entries.end(), [&](const Entry& entry) {
    const TableOption* option = table.Find(entry.key);
    return option ? !option->host_key && entry.key == option->info->path : !HostKeyAmong(options_path, table, entry);
  });
  if (plain) return;
  SortedEntries sorted = SortEntries(*map, options_path, table, errors);
  map->entries = std::move(sorted.kept);
  for (auto& [entry, option] : sorted.moved) {  // `map` may move when keys are added to the root
    if (!option) {
      const HostKey& key = *FindHostKeyByAlias(entry.key);
      ReadAsHostKey(key, std::move(entry), root, errors);
    } else if (options_path == kEvaluationOptions) {
      errors->Add(entry.mark,
                  fmt::format("'{}' is '{}', which cannot differ in evaluation", entry.key, HostKeyOf(*option)->path));
    } else {
      entry.value = ForHostKey(std::move(entry.value), *option);
      MoveTo(HostKeyOf(*option)->path, root, std::move(entry), errors);
    }
  }
}

}  // namespace

void ReadAsHostKey(const HostKey& key, Entry entry, Node* root, Errors* errors) {
  NoteAlias(entry.mark, entry.key, key.path, errors);
  MoveTo(key.path, root, std::move(entry), errors);
}

void NoteAlias(const Mark& mark, const std::string& name, const std::string& path, Errors* errors) {
  errors->Note(mark, fmt::format("'{}' is read as {}", name, path));
}

Node ForHostKey(Node value, const OptionInfo& option) {
  bool plain = value.IsScalar() && !value.quoted && ParseNumber(value.text);
  if (plain && IsMeasured(*HostKeyOf(option))) value.text += option.unit;
  return value;
}

void RewriteAliases(Node* root, const std::vector<PluginSlot>& slots, Errors* errors) {
  for (const PluginSlot& slot : slots) {
    if (!slot.table) continue;
    RewriteIn(root, slot.options_path(), *slot.table, errors);
    if (slot.path == "env") RewriteIn(root, kEvaluationOptions, *slot.table, errors);
  }
}

}  // namespace backplane
