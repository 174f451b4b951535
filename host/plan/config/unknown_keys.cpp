#include "config/unknown_keys.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "base/suggest.hpp"
#include "contract/schema.hpp"
#include "plugin/plugin_search.hpp"
#include "yaml/flow_text.hpp"

namespace backplane {
namespace {

constexpr size_t kMostByMeaning = 3;

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

std::vector<Candidate> NamesIn(const std::string& section, const std::vector<PluginSlot>& slots) {
  std::vector<Candidate> names = AllNames(slots);
  std::erase_if(names, [&](const Candidate& name) { return Parent(name.shown) != section; });
  return names;
}

// Options of the section whose description contains the words of the name: "step_size" means the one with "step size".
std::vector<std::string> ByMeaning(const std::string& section, const std::string& key, const std::vector<PluginSlot>& slots) {
  constexpr size_t kLeastLetters = 3;
  const PluginSlot* slot = FindSlot(slots, section);
  std::vector<std::string> words, paths;
  std::istringstream parts(key);
  for (std::string word; std::getline(parts, word, '_');)
    if (word.size() >= kLeastLetters && word != "num") words.push_back(word);
  if (!slot || !slot->table || words.empty()) return paths;
  for (const OptionInfo& option : slot->table->info().options) {
    std::string doc = " ";
    for (const char c : option.doc)
      doc += std::isalpha(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : ' ';
    const auto contains = [&](const std::string& word) { return (doc + " ").find(" " + word + " ") != std::string::npos; };
    if (std::all_of(words.begin(), words.end(), contains)) paths.push_back(section + "." + option.path);
  }
  if (paths.size() > kMostByMeaning) paths.clear();
  return paths;
}

// "learner: NAME" for an option that another installed learner has.
std::string LearnerWith(const std::string& section, const Entry& entry, const std::vector<PluginSlot>& slots) {
  const PluginSlot* slot = FindSlot(slots, section);
  if (!slot || !slot->table || slot->kind != BP_KIND_LEARNER) return "";
  PluginSearch search({});
  for (const PluginInfo& info : search.All().plugins()) {
    const auto is_it = [&](const OptionInfo& option) { return option.path == entry.key; };
    if (info.kind == slot->kind && std::any_of(info.options.begin(), info.options.end(), is_it))
      return SettingLine(entry.mark, "", "learner",
                         "{plugin: " + info.short_id() + ", options: {" + entry.key + ": " + FlowText(entry.value) + "}}");
  }
  return "";
}

// The value under the new name. A count of steps is no count of iterations.
std::string ValueFor(const std::string& path, const Entry& entry) {
  const bool other_unit = path.find("iterations") != std::string::npos && entry.key.find("iter") == std::string::npos;
  return other_unit ? "10" : FlowText(entry.value);
}

bool IsOption(const std::string& options_path, const std::string& name, const std::vector<PluginSlot>& slots) {
  const PluginSlot* slot = FindSlot(slots, options_path);
  return slot && slot->table && slot->table->Find(name) != nullptr;
}

// `options:` at the top belongs to the plugin above it.
std::string WithOptionsBelow(const Entry& entry, const Node& root) {
  const Entry* owner = nullptr;
  for (const Entry& other : root.entries)
    if ((other.key == "env" || other.key == "learner") && other.mark.line < entry.mark.line) owner = &other;
  if (owner == nullptr || !owner->value.IsMap()) return "";
  Node merged = owner->value;
  std::erase_if(merged.entries, [](const Entry& one) { return one.key == "options"; });
  merged.entries.push_back(entry);
  return KeyLine(owner->key, FlowText(merged));
}

// Options next to `plugin:`, all of them in one mapping.
std::string WithOptionsInside(const std::string& section, const Node& root, const std::vector<PluginSlot>& slots) {
  Node options;
  options.kind = Node::Kind::kMap;
  const Node* map = FindPath(root, section);
  for (const Entry& other : map ? map->entries : std::vector<Entry>())
    if (IsOption(section + ".options", other.key, slots)) options.entries.push_back(other);
  return KeyLine("options", FlowText(options));
}

// For `defaults: [folder/file]`; empty: the list does not start with a file.
std::string BaseOf(const Entry& defaults) {
  if (!defaults.value.IsList() || defaults.value.items.empty()) return "";
  const Node& first = defaults.value.items.front();
  if (!first.IsScalar() || first.text.empty() || first.text == "_self_") return "";
  return KeyLine("base", first.text + (first.text.ends_with(".yaml") ? "" : ".yaml"));
}

// A line for a key that other tools write in a different form; empty: none.
std::string OtherForm(const std::string& section, const Entry& entry, const Node& root, const std::vector<PluginSlot>& slots) {
  const size_t version = entry.key.rfind("-v");
  if (section.empty() && entry.value.IsMap() && version != std::string::npos && version + 2 < entry.key.size())
    return KeyLine("env", entry.key);
  if (section.empty() && entry.key == "defaults") return BaseOf(entry);
  if (section.empty() && entry.key == "options" && entry.value.IsMap()) return WithOptionsBelow(entry, root);
  if (section.empty() && entry.key.find('.') != std::string::npos) return KeyLine(entry.key, FlowText(entry.value));
  if (IsOption(section + ".options", entry.key, slots) && (section == "env" || section == "learner"))
    return WithOptionsInside(section, root, slots);
  return "";
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
  const std::string section = Parent(path), leaf = Leaf(path);
  if (NearestIn(section, leaf, NamesIn(section, slots)).empty())
    if (std::vector<std::string> meant = ByMeaning(section, leaf, slots); !meant.empty()) return meant;
  std::vector<std::string> paths = FindSlot(slots, Parent(path)) ? std::vector<std::string>() : InNearestSections(path, names);
  return paths.empty() ? NearestIn(Parent(path), Leaf(path), names) : paths;
}

KeyHint HintFor(const std::string& section, const Entry& entry, const Node& root, const std::vector<PluginSlot>& slots) {
  std::string line = OtherForm(section, entry, root, slots);
  const bool is_near = !NearestIn(section, entry.key, NamesIn(section, slots)).empty();
  std::vector<std::string> paths = is_near ? std::vector<std::string>() : ByMeaning(section, entry.key, slots);
  if (paths.empty()) paths = NearestIn(section, entry.key, AllNames(slots));
  if (line.empty()) {
    line = paths.empty() ? LearnerWith(section, entry, slots)
                         : SettingLine(entry.mark, section, paths.front(), ValueFor(paths.front(), entry));
  }
  for (std::string& name : paths) {
    if (Parent(name) == section) name = Leaf(name);
    if (name == entry.key) return {"; '" + entry.key + "' belongs at the top level of the file", line};
  }
  return {DidYouMean(paths), line};
}

}  // namespace backplane
