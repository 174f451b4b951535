#include "study/change.hpp"

#include <algorithm>

#include "base/json_path.hpp"
#include "sweep/identity.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::vector<std::pair<std::string, json>> ValuesOf(const Change& change) {
  std::vector<std::pair<std::string, json>> values = {{change.fix.path, change.fix.to}};
  values.insert(values.end(), change.fix.also.begin(), change.fix.also.end());
  return values;
}

bool IsAboutSpeed(const Proposal& finding) {
  static const char* const kOthers[] = {"unstable_learning", "out_of_memory", "ram_near_limit", "vram_near_limit"};
  return std::none_of(std::begin(kOthers), std::end(kOthers), [&](const char* id) { return finding.id == id; });
}

bool IsOfASetting(const Fix& fix) {
  static const char* const kSections[] = {"env.", "learner.", "rollout.", "resources."};
  return std::any_of(std::begin(kSections), std::end(kSections),
                     [&](const char* section) { return fix.path.starts_with(section); });
}

}  // namespace

bool IsSame(const Change& a, const Change& b) { return ValuesOf(a) == ValuesOf(b); }

std::vector<Change> SpeedChangesOf(const std::vector<Proposal>& findings) {
  std::vector<Change> changes;
  for (const Proposal& finding : findings) {
    if (!IsAboutSpeed(finding)) continue;
    for (const Fix& fix : finding.fixes) {
      const Change change{finding.id, finding.title, fix};
      const bool known = std::any_of(changes.begin(), changes.end(), [&](const Change& one) { return IsSame(one, change); });
      if (IsOfASetting(fix) && !known) changes.push_back(change);
    }
  }
  return changes;
}

bool CanChangeLearning(const Change& change) {
  const auto values = ValuesOf(change);
  return std::any_of(values.begin(), values.end(), [](const auto& value) { return LeftOutKeys(value.first).empty(); });
}

void Apply(const Change& change, json* config) {
  for (const auto& [path, value] : ValuesOf(change)) SetAtPath(config, path, value);
}

std::vector<std::pair<std::string, json>> ValuesOf(const std::vector<Change>& changes) {
  std::vector<std::pair<std::string, json>> all;
  for (const Change& change : changes) {
    for (auto& value : ValuesOf(change)) {
      std::erase_if(all, [&](const auto& earlier) { return earlier.first == value.first; });
      all.push_back(std::move(value));
    }
  }
  return all;
}

}  // namespace backplane
