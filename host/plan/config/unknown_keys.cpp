#include "config/unknown_keys.hpp"

#include <algorithm>
#include <set>

#include "base/suggest.hpp"
#include "contract/schema.hpp"

namespace backplane {
namespace {

std::string Parent(const std::string& path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string Leaf(const std::string& path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::vector<Candidate> AllNames(const std::vector<PluginSlot>& slots) {
  std::vector<Candidate> names;
  for (const HostKey& key : HostKeys()) {
    for (std::string path = key.path; !path.empty(); path = Parent(path)) names.push_back({Leaf(path), path});
    for (const std::string& other : OtherNames(key)) names.push_back({other, key.path});
  }
  for (const PluginSlot& slot : slots) {
    if (!slot.table) continue;
    for (const OptionInfo& option : slot.table->info().options) {
      std::string path = slot.options_path() + "." + option.path;
      names.push_back({option.path, path});
      for (const std::string& alias : option.aliases) {
        if (alias.find('.') == std::string::npos) names.push_back({alias, path});
      }
    }
  }
  return names;
}

std::vector<std::string> NearestIn(const std::string& section, const std::string& key, std::vector<Candidate> names) {
  const auto others =
      std::stable_partition(names.begin(), names.end(), [&](const Candidate& c) { return Parent(c.shown) == section; });
  // A name of the section itself hides the same name elsewhere.
  std::set<std::string> own;
  for (auto name = names.begin(); name != others; ++name) own.insert(name->word);
  names.erase(std::remove_if(others, names.end(), [&](const Candidate& c) { return own.contains(c.word); }), names.end());
  return NearestOrLonger(key, names);
}

// Suggestions for a path with a misspelt section, as in "lerner.options.lr". Empty: the section exists, or none is near.
std::vector<std::string> InNearestSections(const std::string& path, const std::vector<Candidate>& names) {
  const std::string section = Parent(path);
  std::vector<std::string> sections;
  for (const Candidate& name : names) sections.push_back(Parent(name.shown));
  if (section.empty() || std::find(sections.begin(), sections.end(), section) != sections.end()) return {};
  // A section with more or fewer parts is a different place, not a misspelling.
  const auto dots = [](const std::string& text) { return std::count(text.begin(), text.end(), '.'); };
  std::erase_if(sections, [&](const std::string& known) { return known.empty() || dots(known) != dots(section); });
  std::vector<std::string> paths;
  for (const std::string& known : NearestOrLonger(section, Candidates(sections))) {
    std::vector<Candidate> own;
    for (const Candidate& name : names)
      if (Parent(name.shown) == known) own.push_back(name);
    const std::vector<std::string> keys = NearestOrLonger(Leaf(path), own);
    paths.push_back(keys.empty() ? known : keys.front());
  }
  return paths;
}

}  // namespace

std::vector<std::string> NearestPaths(const std::string& path, const std::vector<PluginSlot>& slots) {
  const std::vector<Candidate> names = AllNames(slots);
  std::vector<std::string> paths = FindSlot(slots, Parent(path)) ? std::vector<std::string>() : InNearestSections(path, names);
  return paths.empty() ? NearestIn(Parent(path), Leaf(path), names) : paths;
}

std::string Hint(const std::string& section, const std::string& key, const std::vector<PluginSlot>& slots) {
  std::vector<std::string> names = NearestIn(section, key, AllNames(slots));
  for (std::string& name : names) {
    if (Parent(name) == section) name = Leaf(name);
    if (name == key) return "; '" + key + "' belongs at the top level of the file";
  }
  return DidYouMean(names);
}

}  // namespace backplane
