#include "sweep/preset_changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/plugin_tables.hpp"
#include "contract/schema.hpp"

namespace backplane {
namespace {

bool IsOption(const std::string& path) { return path.find(".options.") != std::string::npos; }

std::string Text(const std::optional<nlohmann::json>& value) {
  if (!value) return "the default";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string Listed(const std::vector<std::string>& changes) { return fmt::format("{}", fmt::join(changes, ", ")); }

}  // namespace

std::string SayPresetChanges(const ExperimentText& text, const PluginLookup& lookup, const KeyDefaults& defaults) {
  if (text.preset.values.empty()) return "";
  Errors ignored;
  const auto tables = std::make_shared<PluginTables>(lookup);
  Resolver with(text.root, text.preset.values, text.set, tables, defaults), without(text.root, {}, text.set, tables, defaults);
  const ReadPoint now = with.Read({}, &ignored), before = without.Read({}, &ignored);
  std::vector<std::string> seen, options, others;
  for (const PresetValue& value : text.preset.values) {
    const std::string path = now.Target(value.override.path);
    if (std::ranges::find(seen, path) != seen.end() || (!IsOption(path) && ScopeAt(path) != Scope::kIdentity)) continue;
    seen.push_back(path);
    const auto is = now.At(path), was = before.At(path);
    if (is == was) continue;
    (IsOption(path) ? options : others).push_back(fmt::format("{} {} instead of {}", path, Text(is), Text(was)));
  }
  const Entry* name = FindEntry(text.root, "preset");
  const std::string head = "preset " + (name ? name->value.text : std::string());
  std::string said;
  if (!options.empty()) said = fmt::format("{} changes the training: {}", head, Listed(options));
  if (!others.empty())
    said += fmt::format("{} changes {}: {}", said.empty() ? head : "; it also", "the trials' identity", Listed(others));
  return said;
}

}  // namespace backplane
