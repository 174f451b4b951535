#include "config/overrides.hpp"

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "config/option_aliases.hpp"
#include "config/short_forms.hpp"
#include "config/unknown_keys.hpp"
#include "contract/placeholders.hpp"
#include "contract/schema.hpp"
#include "yaml/flow_text.hpp"

namespace backplane {
namespace {

constexpr int kFirstOrder = 1000;  // after every file

bool IsBelowFreeForm(const std::string& path) {
  constexpr int kMostParts = 4;  // of a key of the table
  size_t dot = path.find('.');
  for (int parts = 1; parts < kMostParts && dot != std::string::npos; ++parts, dot = path.find('.', dot + 1)) {
    const HostKey* key = FindHostKey(path.substr(0, dot));
    if (key && IsFreeForm(*key)) return true;
  }
  return false;
}

// Returns true for a path inside an option that is a structure: "kwargs.gravity".
bool IsBelowStructure(const OptionTable& table, const std::string& name) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const TableOption* option = table.Find(name.substr(0, dot));
    if (option && option->rule.type == ValueType::kStructure) return true;
  }
  return false;
}

// The path that an override writes: an alias writes at its target, so that it replaces the file's value there.
struct Target {
  std::string path;
  const TableOption* host_alias = nullptr;  // the option that stands for a host key here
  bool known = false;
  bool aliased = false;  // another tool's name of a host key
};

Target AliasTarget(const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
  const HostKey* key = FindHostKeyByAlias(dot == std::string::npos ? path : path.substr(dot + 1));
  if (!key || !(section.empty() || section == "learner.options" || key->path.starts_with(section + "."))) return {path};
  return {key->path, nullptr, true, true};
}

// Returns true if a name that is no option of the table may be set.
bool IsKnownName(const PluginSlot& slot, const std::string& name) {
  if (!slot.table || slot.table->info().id == kFunctionLearner) return true;  // the missing plugin is an error already
  const bool is_list_of_options = slot.table->Find(name + "[0]") != nullptr;
  return is_list_of_options || IsBelowStructure(*slot.table, name);
}

Target FindTarget(const std::string& path, const std::vector<PluginSlot>& slots) {
  Target target{path};
  size_t options = path.find(".options.");
  if (options == std::string::npos) {
    const HostKey* key = FindHostKey(path);
    target.known = (key && key->type != ValueType::kBase) || IsSection(path) || IsBelowFreeForm(path);
    return target.known ? target : AliasTarget(path);
  }
  std::string options_path = path.substr(0, options + 8), name = path.substr(options + 9);
  const PluginSlot* slot = FindSlot(slots, options_path);
  const TableOption* option = slot && slot->table ? slot->table->Find(name) : nullptr;
  target.known = option || (slot && IsKnownName(*slot, name));
  if (!target.known) return AliasTarget(path);
  if (!option) return target;
  if (option->host_key && options_path == slot->options_path()) {
    target.host_alias = option;
    target.path = option->host_key->path;
  } else {
    target.path = options_path + "." + option->info->path;
  }
  return target;
}

}  // namespace

std::vector<Override> ParseOverrides(const std::vector<std::string>& set, Errors* errors) {
  std::vector<Override> overrides;
  for (size_t i = 0; i < set.size(); ++i) {
    const std::string& text = set[i];
    const auto source = MakeArgumentSource("--set", text, kFirstOrder + static_cast<int>(i));
    Override override;
    override.add = text.starts_with('+');
    size_t begin = override.add ? 1 : 0, equals = text.find('=');
    override.mark = Mark{source, 1, static_cast<int>(begin) + 1};
    if (equals == std::string::npos || equals == begin) {
      errors->Add(override.mark, fmt::format("expected path=value, got '{}'", text));
      continue;
    }
    override.path = WithTodaysName(text.substr(begin, equals - begin));
    // Blanks instead of the path keep the columns of the value.
    std::optional<Node> value = ParseArgument(std::string(equals + 1, ' ') + text.substr(equals + 1), source, errors);
    if (!value) continue;
    if (value->IsNull()) value->mark = override.mark;
    override.value = std::move(*value);
    UseTodaysPaths(&override.value);
    overrides.push_back(std::move(override));
  }
  return overrides;
}

bool ChoosesPlugins(const Override& override) {
  const std::string& path = override.path;
  const bool of_list = path.starts_with("monitors.") || path.starts_with("env.wrappers");
  const bool of_monitor = of_list && path.find(".options.") == std::string::npos;
  const HostKey* const key = FindHostKeyByAlias(path);
  if (key && key->type == ValueType::kPluginName) return true;
  return path == "env" || path == "monitors" || path == "plugin_path" || path == "env.plugin" || ChoosesLearner(path) ||
         of_monitor;
}

std::string TargetPath(const std::string& path, const std::vector<PluginSlot>& slots) { return FindTarget(path, slots).path; }

std::string ApplyOverride(const Override& override, const std::vector<PluginSlot>& slots, Node* root, Errors* errors) {
  PathWriter tree(root);
  return ApplyOverride(override, slots, &tree, errors);
}

std::string ApplyOverride(const Override& override, const std::vector<PluginSlot>& slots, PathWriter* tree, Errors* errors) {
  if (override.path == "base") {
    errors->Add(override.mark, "base can only be set in a file");
    return override.path;
  }
  Target target = FindTarget(override.path, slots);
  if (!target.known && !override.add && !tree->Find(override.path)) {
    const bool wanted = errors->WantsHint(override.mark);
    const std::vector<std::string> near = wanted ? NearestPaths(override.path, slots) : std::vector<std::string>();
    const bool is_file = override.mark.source && override.mark.source->is_file;  // points and axes write a path as their key
    const std::string value = near.empty() ? "" : FlowText(override.value);
    errors->Add(override.mark, fmt::format("unknown path '{}'{}", override.path, DidYouMean(near)), ErrorCode::kOther,
                near.empty() ? ""
                : is_file    ? near.front() + ": " + value
                             : SettingLine(override.mark, "", near.front(), value));
    // Marked there, so that a misspelt key is not also reported as missing.
    const size_t dot = override.path.rfind('.');
    if (dot == std::string::npos || IsSection(override.path.substr(0, dot))) {
      Node reported = override.value;
      reported.reported = true;
      tree->Set(override.path, override.mark, std::move(reported));
    }
    return override.path;
  }
  if (target.aliased) NoteAlias(override.mark, override.path, target.path, errors);
  Node value = LongForm(target.path, target.host_alias ? ForHostKey(override.value, *target.host_alias->info) : override.value);
  if (!tree->Set(target.path, override.mark, std::move(value))) {
    errors->Add(
        override.mark,
        fmt::format("'{}' cannot be set: its parent key is not a mapping, or the path has too many parts", override.path));
  }
  return target.path;
}

}  // namespace backplane
