#include "config/short_forms.hpp"

#include <fmt/format.h>

#include "config/option_aliases.hpp"
#include "contract/schema.hpp"
#include "contract/value.hpp"

namespace backplane {
namespace {

const std::string kOlder = kOlderNameOfStages, kToday = "stages";

// By a name that other tools use, at the top or in the section of its key. NULL: none, or the host knows the name itself.
const HostKey* AliasedKey(const std::string& section, const std::string& name) {
  const std::string path = section.empty() ? name : section + "." + name;
  if (FindHostKey(path) || IsSection(path)) return nullptr;
  const HostKey* key = FindHostKeyByAlias(name);
  return key && (section.empty() || key->path.starts_with(section + ".")) ? key : nullptr;
}

// Removes entries with another name of a key from one mapping.
void TakeAliased(const std::string& section, Node* map, std::vector<std::pair<const HostKey*, Entry>>* taken) {
  std::erase_if(map->entries, [&](Entry& entry) {
    const HostKey* key = AliasedKey(section, entry.key);
    if (key) taken->emplace_back(key, std::move(entry));
    return key != nullptr;
  });
}

void UseHostNames(Node* root, Errors* errors) {
  std::vector<std::pair<const HostKey*, Entry>> taken;
  TakeAliased("", root, &taken);
  for (Entry& entry : root->entries) {
    if (entry.value.IsMap() && IsSection(entry.key)) TakeAliased(entry.key, &entry.value, &taken);
  }
  for (auto& [key, entry] : taken) ReadAsHostKey(*key, std::move(entry), root, errors);
}

}  // namespace

void UseTodaysPaths(Node* node) {
  for (Node& item : node->items) UseTodaysPaths(&item);
  for (Entry& entry : node->entries) {
    if (entry.key.find('.') != std::string::npos) entry.key = WithTodaysName(entry.key);
    UseTodaysPaths(&entry.value);
  }
}

std::string WithTodaysName(const std::string& path) {
  if (!path.starts_with(kOlder) || (path.size() > kOlder.size() && path[kOlder.size()] != '.')) return path;
  return kToday + path.substr(kOlder.size());
}

Node LongForm(const std::string& path, Node value) {
  if (path == "rollout" && value.IsScalar() && value.text == "auto") {
    Node nothing;
    nothing.mark = value.mark;
    return nothing;
  }
  if (path == "checkpoint") {
    for (Entry& entry : value.entries) entry.value = LongForm(path + "." + entry.key, std::move(entry.value));
  }
  const char* const key = path == "env" || path == "learner" ? "plugin" : path == "checkpoint.best" ? "metric" : nullptr;
  if (key == nullptr || !value.IsScalar()) return value;
  Node section;
  section.kind = Node::Kind::kMap;
  section.mark = value.mark;
  section.entries.push_back({key, value.mark, std::move(value)});
  return section;
}

void UseOneSpelling(Node* root, Errors* errors) {
  UseTodaysPaths(root);
  const Entry* today = FindEntry(*root, kToday);
  for (Entry& entry : root->entries) {
    if (entry.key == kOlder && today != nullptr) {
      errors->Add(entry.mark,
                  fmt::format("'{}' is the older name of '{}', which is set at {}", kOlder, kToday, Place(today->mark)));
    }
    if (entry.key == kOlder) entry.key = kToday;
    entry.value = LongForm(entry.key, std::move(entry.value));
  }
  UseHostNames(root, errors);
}

void NameAfterFile(const std::filesystem::path& file, Node* root) {
  if (FindEntry(*root, "experiment")) return;
  Node name;
  name.kind = Node::Kind::kScalar;
  name.quoted = true;
  name.mark = root->mark;
  for (const char c : file.stem().string()) name.text += c == '.' || IsNameText({&c, 1}) ? c : '_';
  if (!IsNameText(name.text)) return;  // it has to be given
  root->entries.insert(root->entries.begin(), {"experiment", root->mark, std::move(name)});
}

}  // namespace backplane
