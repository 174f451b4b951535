#include "config/loader.hpp"

#include <fmt/format.h>

#include "config/aliases.hpp"
#include "config/base.hpp"
#include "config/names.hpp"
#include "config/options.hpp"
#include "config/overrides.hpp"
#include "config/schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Reads the host's own keys by the table in schema.cpp.
class HostKeyReader {
 public:
  HostKeyReader(const Node& root, const std::vector<PluginSlot>& slots, Values* values, Errors* errors)
      : root_(root), slots_(slots), values_(values), errors_(errors) {}

  void Read() {
    ReadSection(root_, "");
    for (const HostKey& key : HostKeys()) {
      if (!FindPath(root_, key.path) && key.required) ReportMissing(key);
      if (!values_->values.contains(key.path) && key.def) PutDefault(key);
    }
    RequireBudget();
  }

 private:
  void ReadSection(const Node& map, const std::string& section) {
    for (const Entry& entry : map.entries) {
      std::string path = section.empty() ? entry.key : section + "." + entry.key;
      if (const HostKey* key = FindHostKey(path)) {
        ReadKey(*key, entry);
      } else if (!IsSection(path)) {
        errors_->Add(entry.mark, fmt::format("unknown key '{}'{}{}", entry.key, section.empty() ? "" : " in " + section,
                                             Hint(section, entry.key, slots_)));
      } else if (entry.value.IsMap()) {
        ReadSection(entry.value, path);
      } else if (!entry.value.IsNull() && !entry.value.reported) {
        errors_->Add(entry.value.mark, fmt::format("{}: wanted a mapping, found {}", path, Describe(entry.value)));
      }
    }
  }

  void ReadKey(const HostKey& key, const Entry& entry) {
    switch (key.type) {
      case ValueType::kLater:
        errors_->Add(entry.mark, fmt::format("{}: this version runs single trials and does not read this key yet", key.path));
        return;
      case ValueType::kBase:
      case ValueType::kPluginOptions:
      case ValueType::kMonitors:
        if (entry.mark.source) values_->origin[key.path] = Place(entry.mark);
        return;
      default: break;
    }
    bool unset = entry.value.IsNull() && !key.def && !key.required;
    if (unset) return;
    if (auto value = ReadValue(entry.value, key.rule(), key.path, errors_)) values_->Put(key.path, *value, entry.mark);
  }

  void ReportMissing(const HostKey& key) {
    size_t dot = key.path.rfind('.');
    const Node* section = dot == std::string::npos ? &root_ : FindPath(root_, key.path.substr(0, dot));
    if (section && !section->IsMap() && !section->IsNull()) return;  // its own error says it
    errors_->Add(PathMark(root_, key.path), fmt::format("missing key '{}': {}", key.path, key.doc));
  }

  void PutDefault(const HostKey& key) {
    constexpr std::string_view kNamePattern = "<experiment>";
    std::string text = key.def, why_not;
    size_t at = text.find(kNamePattern);
    auto name = values_->values.find("experiment");
    if (at != std::string::npos && name != values_->values.end()) {
      text.replace(at, kNamePattern.size(), name->second.get<std::string>());
    }
    if (auto value = ReadDefault(text, key.rule(), &why_not)) values_->values[key.path] = *value;
  }

  void RequireBudget() {
    std::string limits;
    for (const HostKey& key : HostKeys()) {
      if (!key.path.starts_with("budget.")) continue;
      const Node* node = FindPath(root_, key.path);
      if (node && !node->IsNull()) return;
      limits += (limits.empty() ? "" : ", ") + key.path.substr(7);
    }
    const Node* budget = FindPath(root_, "budget");
    if (budget && !budget->IsMap() && !budget->IsNull()) return;
    errors_->Add(PathMark(root_, "budget"), "budget: at least one limit is needed: " + limits);
  }

  const Node& root_;
  const std::vector<PluginSlot>& slots_;
  Values* values_;
  Errors* errors_;
};

void ReadPluginOptions(const Node& root, const std::vector<PluginSlot>& slots, Values* values, Errors* errors) {
  json monitors = json::array();
  for (const PluginSlot& slot : slots) {
    json options = ReadOptions(root, slot, slots, values, errors);
    const Node* name = FindPath(root, slot.path + ".plugin");
    if (slot.kind == BP_KIND_MONITOR) {
      monitors.push_back({{"plugin", name ? name->text : ""}, {"options", std::move(options)}});
    } else {
      values->values[slot.options_path()] = std::move(options);
    }
  }
  values->values["monitors"] = std::move(monitors);
  values->values["evaluation.env.options"] = ReadEvaluationOptions(root, slots, values, errors);
}

// Only for a tree without errors: every required value is there and every plugin found.
LoadedExperiment Build(Values values, const std::vector<PluginSlot>& slots) {
  LoadedExperiment loaded;
  for (const HostKey& key : HostKeys()) {
    auto found = values.values.find(key.path);
    if (key.set && found != values.values.end()) key.set(key, found->second, &loaded.experiment);
  }
  loaded.origin = std::move(values.origin);
  for (const HostKey& key : HostKeys()) {
    const auto found = loaded.origin.find(key.path);
    if (key.not_enforced && found != loaded.origin.end())
      loaded.notes.push_back(found->second + ": note: " + key.path + " has no effect in this version");
  }
  for (const PluginSlot& slot : slots) {
    if (slot.kind == BP_KIND_ENV) loaded.env = *slot.info;
    if (slot.kind == BP_KIND_LEARNER) loaded.learner = *slot.info;
    if (slot.kind == BP_KIND_MONITOR) loaded.monitors.push_back(*slot.info);
  }
  return loaded;
}

}  // namespace

LoadResult LoadExperiment(const std::filesystem::path& file, const LoadOptions& options) {
  Errors errors;
  std::vector<Override> overrides = ParseOverrides(options.set, &errors);
  std::optional<Node> root = ReadWithBase(file, &errors);
  if (!root) return {std::nullopt, errors.Sorted()};
  for (const Override& override : overrides) {
    if (ChoosesPlugins(override)) ApplyOverride(override, {}, &*root, &errors);
  }
  std::vector<PluginSlot> slots = ResolvePlugins(&*root, options.lookup, &errors);
  // Before the overrides, so that each of them replaces what the file says under whichever name; and after them, because an
  // override may bring a whole mapping.
  RewriteAliases(&*root, slots, &errors);
  for (const Override& override : overrides) {
    if (!ChoosesPlugins(override)) ApplyOverride(override, slots, &*root, &errors);
  }
  RewriteAliases(&*root, slots, &errors);

  Values values;
  HostKeyReader(*root, slots, &values, &errors).Read();
  ReadPluginOptions(*root, slots, &values, &errors);
  if (!errors.empty()) return {std::nullopt, errors.Sorted()};
  return {Build(std::move(values), slots), {}};
}

}  // namespace backplane
