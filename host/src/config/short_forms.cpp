#include "config/short_forms.hpp"

#include <fmt/format.h>

#include "config/value.hpp"

namespace backplane {
namespace {

const std::string kOlder = kOlderNameOfStages, kToday = "stages";

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

Node WithPlugin(const std::string& path, Node value) {
  if ((path != "env" && path != "learner") || !value.IsScalar()) return value;
  Node section;
  section.kind = Node::Kind::kMap;
  section.mark = value.mark;
  section.entries.push_back({"plugin", value.mark, std::move(value)});
  return section;
}

void UseOneSpelling(Node* root, Errors* errors) {
  UseTodaysPaths(root);
  const Entry* today = FindEntry(*root, kToday);
  for (Entry& entry : root->entries) {
    if (entry.key == kOlder && today != nullptr) {
      errors->Add(entry.mark,
                  fmt::format("'{}' is an older name of '{}', which stands at {}", kOlder, kToday, Place(today->mark)));
    }
    if (entry.key == kOlder) entry.key = kToday;
    entry.value = WithPlugin(entry.key, std::move(entry.value));
  }
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
