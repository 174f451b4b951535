#include "results/labels.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace backplane {
namespace {

std::vector<std::string> With(std::vector<std::string> labels, const std::string& name, const std::vector<Traits>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string* value = FindTrait(all[i], name);
    if (value != nullptr) labels[i] += (labels[i].empty() ? "" : " ") + name + "=" + *value;
  }
  return labels;
}

size_t Distinct(const std::vector<std::string>& labels) { return std::set<std::string>(labels.begin(), labels.end()).size(); }

}  // namespace

const std::string* FindTrait(const Traits& traits, const std::string& name) {
  const auto found = std::find_if(traits.begin(), traits.end(), [&](const auto& one) { return one.first == name; });
  return found != traits.end() ? &found->second : nullptr;
}

std::vector<std::string> DifferingTraits(const std::vector<Traits>& all) {
  std::vector<std::string> names;
  std::map<std::string, std::map<std::string, size_t>> uses;  // by name and value
  for (const Traits& traits : all) {
    for (const auto& [name, value] : traits) {
      if (!uses.contains(name)) names.push_back(name);
      ++uses[name][value];
    }
  }
  std::erase_if(names, [&](const std::string& name) { return uses[name].begin()->second == all.size(); });
  return names;
}

std::vector<std::string> LabelsOf(const std::vector<Traits>& all) {
  std::vector<std::string> labels(all.size());
  for (const std::string& name : DifferingTraits(all)) {
    std::vector<std::string> longer = With(labels, name, all);
    if (Distinct(longer) > Distinct(labels)) labels = std::move(longer);
  }
  return labels;
}

}  // namespace backplane
