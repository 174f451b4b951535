#include "config/resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/json_path.hpp"
#include "base/shell_argument.hpp"
#include "config/host_keys.hpp"
#include "config/option_aliases.hpp"
#include "config/short_forms.hpp"
#include "contract/schema.hpp"
#include "yaml/flow_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Limit per choice of plugins. Points that write at more different places are read like files.
constexpr size_t kMostForms = 16;

void ReadPluginOptions(const Node& root, const std::vector<PluginSlot>& slots, Values* values, Errors* errors) {
  json monitors = json::array(), wrappers = json::array();
  for (const PluginSlot& slot : slots) {
    json options = ReadOptions(root, slot, slots, values, errors);
    const Node* name = FindPath(root, slot.path + ".plugin");
    if (slot.in_list()) {
      if (name && name->mark.source) values->origin[slot.path + ".plugin"] = Place(name->mark);
      (slot.is_wrapper() ? wrappers : monitors)
          .push_back({{"plugin", name ? name->text : ""}, {"options", std::move(options)}});
    } else {
      values->values[slot.options_path()] = std::move(options);
    }
  }
  values->values["monitors"] = std::move(monitors);
  values->values["env.wrappers"] = std::move(wrappers);
  values->values["evaluation.env.options"] = ReadEvaluationOptions(root, slots, values, errors);
}

// By the path that they were written at, in their order.
using Written = std::unordered_map<std::string, std::vector<const Override*>>;

std::string ValueOf(const std::string& path, const std::vector<Override>& set) {
  for (const Override& override : set)
    if (override.path == path) return FlowText(override.value);
  return "VALUE";
}

// Two overrides of one place: the second would silently replace the first.
void RefuseTwice(const Override& override, const std::string& target, const std::vector<std::string>& set_paths,
                 const std::vector<Override>& all_set, const Written& written, Errors* errors) {
  for (const std::string& set : set_paths) {
    if (set == target || set.starts_with(target + ".")) {
      errors->Add(override.mark,
                  fmt::format("'{}' is swept here and also set by --set; --sweep replaces the axis", override.path),
                  ErrorCode::kOther, "--sweep " + ShellArgument(override.path + "=" + ValueOf(override.path, all_set)));
    }
  }
  const auto others = written.find(target);
  if (others == written.end() || override.replaces) return;
  for (const Override* other : others->second) {
    errors->Add(override.mark, override.path == other->path
                                   ? fmt::format("'{}' is set twice, first at {}", override.path, Place(other->mark))
                                   : fmt::format("'{}' and '{}' are names of one value, which is set twice (also at {})",
                                                 override.path, other->path, Place(other->mark)));
  }
}

// `target` is where the override would write.
bool GivesWay(const Override& override, const std::string& target, const std::vector<std::string>& set_paths) {
  return override.yields && std::any_of(set_paths.begin(), set_paths.end(),
                                        [&](const std::string& set) { return set == target || target.starts_with(set + "."); });
}

// True: it is a whole mapping of a plugin and its options, with one that stands for `target`.
bool GivesOption(const Override& override, const std::string& target, const std::vector<PluginSlot>& slots) {
  const Node* options = ChoosesPlugins(override) && override.value.IsMap() ? FindPath(override.value, "options") : nullptr;
  if (!options || !options->IsMap()) return false;
  return std::any_of(options->entries.begin(), options->entries.end(),
                     [&](const Entry& entry) { return TargetPath(override.path + ".options." + entry.key, slots) == target; });
}

// Without its kind; empty: it is not known.
std::string NameOfLearner(const std::vector<PluginSlot>& slots) {
  const PluginSlot* slot = FindSlot(slots, "learner.options");
  return slot && slot->table ? slot->table->info().short_id() : "";
}

// Those that choose plugins, and the others.
std::pair<Assignments, Assignments> Apart(const Assignments& assignments) {
  std::pair<Assignments, Assignments> apart;
  for (const Override* override : assignments) (ChoosesPlugins(*override) ? apart.first : apart.second).push_back(override);
  return apart;
}

std::optional<Entry> TakeEntry(const std::string& key, Node* root) {
  const auto found =
      std::find_if(root->entries.begin(), root->entries.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == root->entries.end()) return std::nullopt;
  Entry entry = std::move(*found);
  root->entries.erase(found);
  return entry;
}

// A repeated path replaces the earlier value; under another name it is probably a mistake, as in a file.
void RefuseOtherName(const Override& set, const Override& before, Errors* errors) {
  if (set.path == before.path) return;
  errors->Add(set.mark,
              fmt::format("'{}' is another name of '{}', which is also set by --set; keep one of them", set.path, before.path));
}

// The mapping of options at a path. Monitors and wrappers have their options in lists.
const json* FindOptions(const Values& all, const std::vector<PluginSlot>& slots, const std::string& path) {
  if (const auto found = all.values.find(path); found != all.values.end()) return &found->second;
  size_t monitor = 0, wrapper = 0;
  for (const PluginSlot& slot : slots) {
    if (!slot.in_list()) continue;
    size_t& index = slot.is_wrapper() ? wrapper : monitor;
    if (slot.options_path() == path)
      return &all.values.at(slot.is_wrapper() ? "env.wrappers" : "monitors").at(index).at("options");
    ++index;
  }
  return nullptr;
}

}  // namespace

std::string ReadPoint::Target(const std::string& path) const { return TargetPath(path, *slots); }

std::optional<ValueRule> ReadPoint::RuleAt(const std::string& path) const {
  const std::string target = Target(path);
  if (const HostKey* key = FindHostKey(target)) return key->rule();
  const size_t options = target.find(".options.");
  if (options == std::string::npos) return std::nullopt;
  const PluginSlot* slot = FindSlot(*slots, target.substr(0, options + 8));
  const TableOption* option = slot && slot->table ? slot->table->Find(target.substr(options + 9)) : nullptr;
  return option ? std::optional(option->rule) : std::nullopt;
}

std::optional<json> ReadPoint::At(const std::string& path) const {
  const std::string target = Target(path);
  if (const json* value = form ? form->Find(target, own) : nullptr) return *value;
  const Values& all = form ? form->common() : values;
  auto found = all.values.find(target);
  if (found != all.values.end()) {
    json value = found->second;
    if (form && value.is_object()) form->PutOptions(target, own, &value);
    return value;
  }
  size_t options = target.find(".options.");
  if (options == std::string::npos) return std::nullopt;
  const std::string map = target.substr(0, options + 8), name = target.substr(options + 9);
  const json* read = FindOptions(all, *slots, map);
  if (read && read->contains(name)) return read->at(name);
  if (const json* below = read ? &AtPath(*read, name) : nullptr; below && !below->is_null()) return *below;
  // Evaluation has only what differs.
  return map == "evaluation.env.options" ? At("env.options." + name) : std::nullopt;
}

Resolver::Resolver(Node root, std::vector<PresetValue> preset, std::vector<Override> set, std::shared_ptr<PluginTables> tables,
                   KeyDefaults defaults)
    : root_(std::move(root)),
      preset_(std::move(preset)),
      set_(std::move(set)),
      tables_(std::move(tables)),
      defaults_(std::move(defaults)) {}

Resolver::Prepared& Resolver::Prepare(const Assignments& choosing) {
  auto known = prepared_.find(choosing);
  if (known != prepared_.end()) return known->second;
  Prepared& p = prepared_[choosing];
  p.root = root_;
  for (const Override& override : set_) {
    if (ChoosesPlugins(override)) p.set_paths.push_back(ApplyOverride(override, {}, &p.root, &p.errors));
  }
  Written written;
  for (const Override* override : choosing) {
    if (GivesWay(*override, override->path, p.set_paths)) continue;
    RefuseTwice(*override, override->path, p.set_paths, set_, written, &p.errors);
    written[ApplyOverride(*override, {}, &p.root, &p.errors)].push_back(override);
  }
  std::vector<PluginSlot> slots = ResolvePlugins(&p.root, tables_.get(), &p.errors);
  // Before the overrides, so that each replaces the file's value under any name; and after them, because an
  // override may bring a whole mapping.
  RewriteAliases(&p.root, slots, &p.errors);
  const std::string learner = NameOfLearner(slots);
  for (const PresetValue& value : preset_) {
    const bool counts = value.learner.empty() || value.learner == learner;
    const std::string target = TargetPath(value.override.path, slots);
    const auto gives = [&](const Override& override) { return GivesOption(override, target, slots); };
    const bool given = std::any_of(choosing.begin(), choosing.end(), [&](const Override* one) { return gives(*one); }) ||
                       std::any_of(set_.begin(), set_.end(), gives);
    if (counts && !given) ApplyOverride(value.override, slots, &p.root, &p.errors);
  }
  std::map<std::string, const Override*> set_at;
  for (const Override& override : set_) {
    if (ChoosesPlugins(override)) continue;
    p.set_paths.push_back(ApplyOverride(override, slots, &p.root, &p.errors));
    RefuseOtherName(override, *set_at.try_emplace(p.set_paths.back(), &override).first->second, &p.errors);
  }
  RewriteAliases(&p.root, slots, &p.errors);
  p.slots = std::make_shared<const std::vector<PluginSlot>>(std::move(slots));
  return p;
}

ReadPoint Resolver::Read(const Assignments& assignments, Errors* errors) {
  const auto [choosing, others] = Apart(assignments);
  const Prepared& prepared = Prepare(choosing);
  errors->AddNewPlaces(prepared.errors);
  return ReadWhole(prepared, others, nullptr, errors);
}

ReadPoint Resolver::ReadByPlace(const Assignments& assignments, Errors* errors) {
  const auto [choosing, others] = Apart(assignments);
  Prepared& prepared = Prepare(choosing);
  errors->AddNewPlaces(prepared.errors);
  for (const auto& form : prepared.forms) {
    if (!form->Fits(others)) continue;
    if (std::optional<ReadPoint> point = form->Read(others)) return *std::move(point);
    return ReadWhole(prepared, others, nullptr, errors);  // reports the error
  }
  if (others.empty() || prepared.forms.size() == kMostForms) return ReadWhole(prepared, others, nullptr, errors);
  std::vector<std::string> targets;
  ReadPoint whole = ReadWhole(prepared, others, &targets, errors);
  if (!errors->empty() || errors->notes().size() > prepared.errors.notes().size()) return whole;
  std::unique_ptr<PointForm> form = PointForm::Make(others, targets, whole);
  std::optional<ReadPoint> point = form ? form->Read(others) : std::nullopt;
  if (!point) return whole;
  prepared.forms.push_back(std::move(form));
  return *std::move(point);
}

ReadPoint Resolver::ReadWhole(const Prepared& prepared, const Assignments& others, std::vector<std::string>* targets,
                              Errors* errors) {
  const bool plain = others.empty();
  Node changed = plain ? Node() : prepared.root;
  const std::vector<PluginSlot>& slots = *prepared.slots;
  bool whole_mapping = false;
  PathWriter tree(&changed);
  Written written;
  for (const Override* override : others) {
    if (targets) targets->emplace_back();
    if (GivesWay(*override, TargetPath(override->path, slots), prepared.set_paths)) continue;
    std::string target = ApplyOverride(*override, slots, &tree, errors);
    if (targets) targets->back() = target;
    RefuseTwice(*override, target, prepared.set_paths, set_, written, errors);
    written[std::move(target)].push_back(override);
    whole_mapping = whole_mapping || override->value.IsMap() || override->value.IsList();  // a list may stand for options
  }
  if (whole_mapping) RewriteAliases(&changed, slots, errors);

  ReadPoint point{prepared.slots, {}};
  const Node& root = plain ? prepared.root : changed;
  ReadHostKeys(root, slots, defaults_, &point.values, errors);
  ReadPluginOptions(root, slots, &point.values, errors);
  return point;
}

void Resolver::CheckReport(const ReportCheck& check, Errors* errors) {
  Errors said_elsewhere;
  const ReadPoint point = Read({}, &said_elsewhere);
  Experiment experiment;
  for (const HostKey& key : HostKeys()) {
    const auto found = point.values.values.find(key.path);
    if (key.path.starts_with("report.") && found != point.values.values.end()) key.set(key, found->second, &experiment);
  }
  if (!experiment.report.kind) return;  // no report, or its kind has an error already
  for (ReportError& error : check(experiment.report))
    errors->Add(PathMark(Prepare({}).root, error.path), std::move(error.message));
}

LoadedExperiment Resolver::Build(ReadPoint point) {
  LoadedExperiment loaded;
  for (const HostKey& key : HostKeys()) {
    auto found = point.values.values.find(key.path);
    if (key.set && found != point.values.values.end()) key.set(key, found->second, &loaded.experiment);
  }
  loaded.origin = std::move(point.values.origin);
  for (const PluginSlot& slot : *point.slots) {
    std::shared_ptr<const PluginInfo> info(slot.table, &slot.table->info());
    if (slot.is_wrapper()) loaded.wrappers.push_back(info);
    if (slot.path == "env") loaded.env = info;
    if (slot.kind == BP_KIND_LEARNER) loaded.learner = info, loaded.folder = slot.folder;
    if (slot.kind == BP_KIND_MONITOR) loaded.monitors.push_back(info);
  }
  return loaded;
}

std::optional<ExperimentText> ReadExperimentText(const std::filesystem::path& file, const std::vector<std::string>& set,
                                                 const PresetSearch& presets, Errors* errors) {
  std::vector<Override> overrides = ParseOverrides(set, errors);
  std::optional<Node> root = ReadWithBase(file, errors);
  if (!root) return std::nullopt;
  ExperimentText text;
  for (Override& override : overrides) {
    if (override.path.starts_with("stages.")) {
      text.set_in_stages.push_back(std::move(override));
    } else if (override.path == "sweep" || override.path == "stages" || override.path == "compare" ||
               override.path == "preset" || override.path.starts_with("sweep.") || override.path.starts_with("compare.")) {
      ApplyOverride(override, {}, &*root, errors);
    } else {
      text.set.push_back(std::move(override));
    }
  }
  NameAfterFile(file, &*root);
  text.preset = ReadPreset(presets, file, &*root, errors);
  text.sweep = TakeEntry("sweep", &*root);
  text.stages = TakeEntry("stages", &*root);
  text.compare = TakeEntry("compare", &*root);
  text.root = std::move(*root);
  return text;
}

}  // namespace backplane
