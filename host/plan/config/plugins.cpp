#include "config/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/command.hpp"
#include "contract/value.hpp"
#include "plugin/catalog.hpp"
#include "yaml/flow_text.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

// Measures the process, so it belongs to every experiment that does not say otherwise.
constexpr const char* kDefaultMonitor = "resources";

using Folders = std::vector<std::filesystem::path>;

Folders ReadPluginPath(const Node& root) {
  Errors reported_elsewhere;
  Folders folders;
  const Node* node = FindPath(root, "plugin_path");
  if (!node) return folders;
  auto value = ReadValue(*node, {ValueType::kPathList, ""}, "plugin_path", &reported_elsewhere);
  if (value) {
    for (const auto& folder : *value) folders.emplace_back(folder.get<std::string>());
  }
  return folders;
}

Node Scalar(std::string text, const Mark& mark) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text = std::move(text);
  node.mark = mark;
  return node;
}

Node PluginMapping(Node name) {
  Node map;
  map.kind = Node::Kind::kMap;
  map.mark = name.mark;
  map.entries.push_back(Entry{"plugin", name.mark, std::move(name)});
  return map;
}

void CheckMonitor(const Node& item, Errors* errors) {
  if (item.reported) return;
  if (!item.IsMap()) {
    errors->Add(item.mark, fmt::format("monitors: expected a plugin's name or {{plugin, options}}, got {}", Describe(item)));
    return;
  }
  for (const Entry& entry : item.entries) {
    if (entry.key == "plugin" || entry.key == "options") continue;
    errors->Add(entry.mark, fmt::format("unknown key '{}' in monitors; a monitor has 'plugin' and 'options'", entry.key));
  }
  if (!FindEntry(item, "plugin")) errors->Add(item.mark, "monitors: missing key 'plugin'");
}

// They listen to what plugins do.
void LeaveOutMonitors(Node* root, Errors* errors) {
  Entry* entry = FindEntry(root, "monitors");
  if (entry && entry->value.IsList() && !entry->value.items.empty())
    errors->Note(entry->mark, "monitors only observe plugins; memory and CPU time of a command are recorded without a monitor");
  Node none;
  none.kind = Node::Kind::kList;
  SetPath(root, "monitors", entry ? entry->mark : Mark{}, std::move(none));
}

// `monitors: {NAME: true}` switches them on elsewhere.
void AddNoList(const Entry& monitors, Errors* errors) {
  std::string names;
  for (const Entry& entry : monitors.value.entries)
    if (!entry.value.IsScalar() || !IsFlag(entry.value.text, false)) names += (names.empty() ? "" : ", ") + entry.key;
  if (monitors.value.IsScalar()) names = monitors.value.text;
  const bool is_map = !monitors.value.entries.empty();
  errors->Add(is_map ? monitors.value.entries.front().mark : monitors.mark,
              "monitors: expected a list of plugins, got " + Describe(monitors.value), ErrorCode::kOther,
              names.empty() ? "" : "monitors: [" + names + "]");
}

void PrepareMonitors(Node* root, PluginTables* tables, const Folders& folders, Errors* errors) {
  Entry* entry = FindEntry(root, "monitors");
  if (!entry) {
    std::string why_not;
    if (!tables->Find(BP_KIND_MONITOR, kDefaultMonitor, folders, &why_not)) return;
    Node list;
    list.kind = Node::Kind::kList;
    list.items.push_back(PluginMapping(Scalar(kDefaultMonitor, Mark{})));
    SetPath(root, "monitors", Mark{}, std::move(list));
    return;
  }
  if (!entry->value.IsList()) {
    if (!entry->value.reported) AddNoList(*entry, errors);
    return;
  }
  for (Node& item : entry->value.items) {
    if (item.IsScalar()) item = PluginMapping(item);
    CheckMonitor(item, errors);
  }
}

PluginSlot Resolve(Node* root, uint32_t kind, std::string path, PluginTables* tables, const Folders& folders, Errors* errors) {
  PluginSlot slot{kind, std::move(path), nullptr};
  std::string key = slot.path + ".plugin";
  Node* node = FindPath(root, key);
  if (kind == BP_KIND_ENV && (!node || node->IsNull()) && HasCommand(*root)) return SlotWithoutEnv();
  if (!node || node->reported) return slot;
  Mark mark = PathMark(*root, key);
  auto name = ReadValue(*node, {ValueType::kText, ""}, key, errors);
  if (!name) {
    node->reported = true;
    return slot;
  }
  const std::string file = AbsolutePath(node->text, node->mark);
  const bool is_path = IsPluginPath(node->text, file);
  if (is_path) node->text = file;
  std::string why_not;
  slot.table = tables->Find(kind, node->text, folders, &why_not);
  constexpr std::string_view kHint = "\nhint: ";
  const size_t hint = std::min(why_not.find(kHint), why_not.size());
  const std::string line = why_not.substr(std::min(hint + kHint.size(), why_not.size()));
  const size_t colon = line.find(": ");
  if (!slot.table)
    errors->Add(mark, fmt::format("{}: {}", key, why_not.substr(0, hint)), ErrorCode::kOther,
                line.empty()        ? ""
                : slot.is_wrapper() ? "wrappers: [" + line.substr(colon + 2) + "]"
                                    : SettingLine(mark, "", line.substr(0, colon), line.substr(colon + 2)));
  else if (!is_path)
    node->text = slot.table->info().short_id();  // whatever name it goes by
  return slot;
}

// The entry of a wrapper's mapping whose value has no option's name yet.
constexpr const char* kWrapperValue = "value";

void AddWrapperError(const Mark& mark, const std::string& found, Errors* errors) {
  errors->Add(mark, "env.wrappers: expected a name or {NAME: value or options}, got " + found, ErrorCode::kOther,
              "wrappers: [{time_limit: 500}, {frame_stack: 4}]");
}

std::vector<PluginSlot> ResolveWrappers(Node* root, bool has_command, PluginTables* tables, const Folders& folders,
                                        Errors* errors) {
  Node* list = FindPath(root, "env.wrappers");
  if (!list || list->IsNull() || list->reported) return {};
  if (!list->IsList()) {
    AddWrapperError(list->mark, Describe(*list), errors);
    list->reported = true;
    return {};
  }
  if (has_command && !list->items.empty()) {
    errors->Add(list->mark, "env.wrappers: a command steps its env itself, so it cannot have wrappers; leave out env.wrappers");
    return {};
  }
  std::vector<PluginSlot> slots;
  for (size_t i = 0; i < list->items.size(); ++i) {
    ReadWrapper(&list->items[i], errors);
    PluginSlot slot = Resolve(root, BP_KIND_ENV, fmt::format("env.wrappers.{}", i), tables, folders, errors);
    list = FindPath(root, "env.wrappers");
    if (slot.table) NameWrapperValue(slot.table->info(), &list->items[i]);
    slots.push_back(std::move(slot));
  }
  return slots;
}

// Rejects an env where a wrapper belongs, and the reverse.
void CheckWrappers(const Node& root, const std::vector<PluginSlot>& slots, Errors* errors) {
  for (const PluginSlot& slot : slots) {
    if (slot.kind != BP_KIND_ENV || !slot.table) continue;
    const PluginInfo& info = slot.table->info();
    const bool is_wrapper = (info.flags & BP_FLAG_WRAPPER) != 0;
    if (is_wrapper && !slot.is_wrapper())
      errors->Add(PathMark(root, slot.path + ".plugin"),
                  fmt::format("{}.plugin: {} is a wrapper: expected an env below it, got none", slot.path, info.id),
                  ErrorCode::kOther, "env: {plugin: NAME, wrappers: [" + info.short_id() + "]}");
    if (!is_wrapper && slot.is_wrapper())
      errors->Add(PathMark(root, slot.path + ".plugin"),
                  fmt::format("{}: expected a wrapper, got {}, which is an env of its own", slot.path, info.id),
                  ErrorCode::kOther, "env: {plugin: " + info.short_id() + "}");
  }
}

}  // namespace

void ReadWrapper(Node* item, Errors* errors) {
  if (item->reported) return;
  if (item->IsScalar()) {
    *item = PluginMapping(*item);
    return;
  }
  if (!item->IsMap() || item->entries.empty()) {
    AddWrapperError(item->mark, Describe(*item), errors);
    item->reported = true;
    return;
  }
  const bool is_long = FindEntry(*item, "plugin") != nullptr;
  for (const Entry& entry : item->entries) {
    const bool known = is_long && (entry.key == "plugin" || entry.key == "options" || entry.key == kWrapperValue);
    if (known || (!is_long && item->entries.size() == 1)) continue;
    AddWrapperError(entry.mark, is_long ? "the key '" + entry.key + "'" : "a mapping of several names", errors);
    item->reported = true;
    return;
  }
  if (is_long) return;
  const Entry given = item->entries.front();
  *item = PluginMapping(Scalar(given.key, given.mark));
  item->entries.push_back({given.value.IsMap() ? "options" : kWrapperValue, given.mark, given.value});
}

void NameWrapperValue(const PluginInfo& wrapper, Node* item) {
  Entry* const value = FindEntry(item, kWrapperValue);
  if (value == nullptr) return;
  Node options;
  options.kind = Node::Kind::kMap;
  options.mark = value->mark;
  const std::string name = wrapper.options.empty() ? std::string(kWrapperValue) : wrapper.options.front().path;
  if (!value->value.IsNull()) options.entries.push_back({name, value->mark, value->value});
  value->key = "options";
  value->value = std::move(options);
}

std::vector<PluginSlot> ResolvePlugins(Node* root, PluginTables* tables, Errors* errors) {
  Folders folders = ReadPluginPath(*root);
  const bool has_command = HasCommand(*root);
  if (has_command) {
    LeaveOutMonitors(root, errors);
  } else {
    PrepareMonitors(root, tables, folders, errors);
  }
  std::vector<PluginSlot> slots;
  slots.push_back(Resolve(root, BP_KIND_ENV, "env", tables, folders, errors));
  slots.push_back(has_command ? ResolveCommand(root, errors)
                              : Resolve(root, BP_KIND_LEARNER, "learner", tables, folders, errors));
  const Node* monitors = FindPath(*root, "monitors");
  size_t count = monitors ? monitors->items.size() : 0;
  for (size_t i = 0; i < count; ++i) {
    slots.push_back(Resolve(root, BP_KIND_MONITOR, fmt::format("monitors.{}", i), tables, folders, errors));
  }
  std::ranges::move(ResolveWrappers(root, has_command, tables, folders, errors), std::back_inserter(slots));
  CheckWrappers(*root, slots, errors);
  return slots;
}

const PluginSlot* FindSlot(const std::vector<PluginSlot>& slots, const std::string& options_path) {
  std::string wanted = options_path == "evaluation.env.options" ? "env.options" : options_path;
  for (const PluginSlot& slot : slots) {
    if (slot.options_path() == wanted) return &slot;
  }
  return nullptr;
}

}  // namespace backplane
