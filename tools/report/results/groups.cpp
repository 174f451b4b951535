#include "results/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "results/labels.hpp"

namespace backplane {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
constexpr size_t kHashDigits = 8;  // digits that people compare

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

// The kernel's own memory varies a little between versions, so ignore small differences.
std::string Memory(uint64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f} GiB", static_cast<double>(bytes) / kBytesPerGib) : "unknown";
}

Traits MachineTraits(const RunInfo& run) {
  return {{"host", OrUnknown(run.host.hostname)},
          {"CPU", OrUnknown(run.host.cpu)},
          {"cores", run.host.granted_cores > 0 ? std::to_string(run.host.granted_cores) : "unknown"},
          {"memory", Memory(run.host.memory_bytes)},
          {"devices", JsonText(nlohmann::json(run.devices))},
          {"backplane", OrUnknown(run.versions.backplane)},
          {"compiler", OrUnknown(run.versions.compiler)},
          {"torch", OrUnknown(run.versions.torch)}};
}

// The word at "learner.command.1", or the function; empty: the path is not in a command.
std::string CommandWord(const TrialData& trial, const std::string& place) {
  constexpr std::string_view kCommand = "learner.command", kFunction = "learner.function";
  if (place == kFunction) return Text(trial.At(place));
  const nlohmann::json command = trial.At(std::string(kCommand));
  if (!place.starts_with(kCommand) || place.size() < kCommand.size() + 2 || !command.is_array()) return "";
  const size_t index = std::strtoul(place.c_str() + kCommand.size() + 1, nullptr, 10);
  return index < command.size() ? Text(command[index]) : "";
}

// "env.plugin NAME": two builds of a plugin form two groups, but two plugins in one sweep do not. A file of a command counts by
// its own name. Files used by a file ("env.options.xml_path/references") count by its name.
std::string FileName(const TrialData& trial, const std::string& place) {
  const size_t slash = place.find('/');
  if (const std::string word = CommandWord(trial, place.substr(0, slash)); !word.empty())
    return word.substr(word.rfind('/') + 1) + (slash == std::string::npos ? "" : place.substr(slash));
  return place + " " + OrUnknown(Text(trial.At(place.substr(0, slash))));
}

std::map<std::string, std::set<std::string>> HashesByFile(const std::vector<ResultSet>& sets) {
  std::map<std::string, std::set<std::string>> hashes;
  for (const ResultSet& set : sets) {
    for (const TrialData& trial : set.trials) {
      for (const auto& [place, hash] : trial.files) hashes[FileName(trial, place)].insert(hash);
    }
  }
  return hashes;
}

std::string Warning(const std::vector<Traits>& groups) {
  std::string differing;
  for (const std::string& name : DifferingTraits(groups)) {
    std::set<std::string> values;
    for (const Traits& group : groups) {
      if (const std::string* value = FindTrait(group, name)) values.insert(*value);
    }
    differing += fmt::format("{}{} ({})", differing.empty() ? "" : ", ", name, fmt::join(values, " | "));
  }
  return fmt::format(
      "These results come from {} machines or builds that differ in {}. Their times cannot be compared, so each has its own "
      "baseline.",
      groups.size(), differing);
}

}  // namespace

Grouping GroupSets(const std::vector<ResultSet>& sets) {
  const auto hashes = HashesByFile(sets);
  Grouping grouping;
  std::vector<Traits> known;
  for (const ResultSet& set : sets) {
    grouping.of.emplace_back();
    for (const TrialData& trial : set.trials) {
      Traits traits = MachineTraits(set.run);
      for (const auto& [place, hash] : trial.files) {
        const std::string file = FileName(trial, place);
        if (hashes.at(file).size() > 1) traits.emplace_back(file, hash.substr(0, kHashDigits));
      }
      const auto found = std::find(known.begin(), known.end(), traits);
      grouping.of.back().push_back(static_cast<size_t>(found - known.begin()));
      if (found != known.end()) continue;
      known.push_back(std::move(traits));
      grouping.groups.push_back({"", set.run});
    }
  }
  const std::vector<std::string> labels = LabelsOf(known);
  for (size_t i = 0; i < labels.size(); ++i) grouping.groups[i].label = labels[i];
  if (known.size() > 1) grouping.warning = Warning(known);
  return grouping;
}

}  // namespace backplane
