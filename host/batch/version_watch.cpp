#include "batch/version_watch.hpp"

#include <fmt/format.h>

#include <string_view>

namespace backplane {
namespace {

constexpr std::string_view kVersion = "version/";

}  // namespace

bool TellsVersions(const PluginFacts& facts) {
  for (const auto& [plugin, told] : facts)
    for (const auto& [key, value] : told)
      if (key.starts_with(kVersion)) return true;
  return false;
}

std::vector<std::string> VersionWatch::Look(const PluginFacts& facts, const std::string& name) {
  std::vector<std::string> changes;
  for (const auto& [plugin, told] : facts) {
    for (const auto& [key, value] : told) {
      if (!key.starts_with(kVersion) || !value.is_string()) continue;
      const Known now{value.get<std::string>(), name};
      const auto [known, is_first] = known_.try_emplace(plugin + " " + key, now);
      if (!is_first && known->second.version != now.version)
        changes.push_back(fmt::format("{}: {} is {} in {}, but was {} in {}; this alone may change results", plugin,
                                      key.substr(kVersion.size()), now.version, name, known->second.version,
                                      known->second.trial));
      known->second = now;
    }
  }
  return changes;
}

}  // namespace backplane
