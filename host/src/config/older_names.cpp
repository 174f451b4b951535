#include "config/older_names.hpp"

#include <fmt/format.h>

namespace backplane {
namespace {

const std::string kOlder = kOlderNameOfStages, kToday = "stages";

void RenamePaths(Node* node) {
  for (Node& item : node->items) RenamePaths(&item);
  for (Entry& entry : node->entries) {
    if (entry.key.find('.') != std::string::npos) entry.key = WithTodaysName(entry.key);
    RenamePaths(&entry.value);
  }
}

}  // namespace

std::string WithTodaysName(const std::string& path) {
  if (!path.starts_with(kOlder) || (path.size() > kOlder.size() && path[kOlder.size()] != '.')) return path;
  return kToday + path.substr(kOlder.size());
}

void UseTodaysNames(Node* root, Errors* errors) {
  RenamePaths(root);
  const Entry* today = FindEntry(*root, kToday);
  for (Entry& entry : root->entries) {
    if (entry.key != kOlder) continue;
    if (today != nullptr)
      errors->Add(entry.mark,
                  fmt::format("'{}' is an older name of '{}', which stands at {}", kOlder, kToday, Place(today->mark)));
    entry.key = kToday;
  }
}

}  // namespace backplane
