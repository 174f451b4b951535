#include "config/point_form.hpp"

#include <algorithm>
#include <utility>

#include "config/command.hpp"
#include "config/host_keys.hpp"
#include "config/option_aliases.hpp"
#include "config/resolver.hpp"
#include "contract/schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// An option's value does not affect other values. `PointForm` handles the effects of these host keys.
bool IsAlone(const HostKey& key) {
  switch (key.type) {
    case ValueType::kNumber:
    case ValueType::kInteger:
    case ValueType::kSeed:
    case ValueType::kFlag:
    case ValueType::kDuration:
    case ValueType::kSize:
    case ValueType::kSizeOrShare: break;
    default: return false;
  }
  return key.scope != Scope::kBatch && !key.of_command && key.path != "resources.exclusive";
}

bool IsListOption(const TableOption& option) {
  return option.rule.type == ValueType::kNumberList || option.rule.type == ValueType::kIntegerList;
}

json& (*OptionsIn(const std::string& path))(Experiment&) {
  if (path == "env.options") return [](Experiment& e) -> json& { return e.env.options; };
  if (path == "learner.options") return [](Experiment& e) -> json& { return e.learner.options; };
  if (path == "evaluation.env.options") return [](Experiment& e) -> json& { return e.evaluation.env_options; };
  return nullptr;
}

// A path of options taken apart; the second part is empty where it is none.
std::pair<std::string, std::string> SplitOptions(const std::string& path) {
  const size_t options = path.find(".options.");
  if (options == std::string::npos) return {path, ""};
  return {path.substr(0, options + 8), path.substr(options + 9)};
}

}  // namespace

std::unique_ptr<PointForm> PointForm::Make(const Assignments& written, const std::vector<std::string>& targets,
                                           const ReadPoint& first) {
  std::unique_ptr<PointForm> form(new PointForm);
  form->slots_ = first.slots;
  for (const PluginSlot& slot : *first.slots)
    if (!slot.table || IsOfCommand(*slot.table)) return nullptr;  // a command looks at all that stands there
  for (size_t i = 0; i < written.size(); ++i) {
    const Override& override = *written[i];
    form->shapes_.push_back({override.path, override.value.kind, override.replaces, override.yields});
    if (targets[i].empty()) continue;
    if (!form->AddPlace(override, targets[i])) return nullptr;
    form->places_.back().written = i;
  }
  form->common_ = first.values;
  form->loaded_ = Resolver::Build(first);
  return form;
}

bool PointForm::AddPlace(const Override& override, const std::string& target) {
  OwnPlace place;
  place.path = target;
  const HostKey* key = FindHostKey(target);
  if (!(key ? FindKeyPlace(*key, override, &place) : FindOptionPlace(override, &place))) return false;
  places_.push_back(std::move(place));
  return true;
}

bool PointForm::FindKeyPlace(const HostKey& key, const Override& override, OwnPlace* place) const {
  if (!IsAlone(key) || !override.value.IsScalar()) return false;
  place->key = &key;
  place->rule = key.rule();
  if (override.path != place->path) {
    const auto [map, name] = SplitOptions(override.path);
    const PluginSlot* slot = name.empty() ? nullptr : FindSlot(*slots_, map);
    const TableOption* option = slot ? slot->table->Find(name) : nullptr;
    if (!option || option->host_key != &key) return false;
    place->alias = option->info;
  }
  for (const PluginSlot& slot : *slots_) {
    for (const TableOption& option : slot.table->options())
      if (option.host_key == &key) place->seen_as.push_back(option.info);
  }
  return true;
}

bool PointForm::FindOptionPlace(const Override& override, OwnPlace* place) const {
  const auto [map, name] = SplitOptions(place->path);
  place->of = OptionsIn(map);
  const PluginSlot* slot = place->of && !name.empty() ? FindSlot(*slots_, map) : nullptr;
  place->option = slot ? slot->table->Find(name) : nullptr;
  if (!place->option || place->option->info->path != name || place->option->host_key) return false;
  if (!override.value.IsScalar() && !(override.value.IsList() && IsListOption(*place->option))) return false;
  place->options = FindHostKey(map);
  place->rule = place->option->rule;
  return true;
}

bool PointForm::Fits(const Assignments& written) const {
  return std::equal(written.begin(), written.end(), shapes_.begin(), shapes_.end(),
                    [](const Override* override, const Shape& shape) {
                      return override->path == shape.path && override->value.kind == shape.kind &&
                             override->replaces == shape.replaces && override->yields == shape.yields;
                    });
}

std::optional<ReadPoint> PointForm::Read(const Assignments& written) {
  ReadPoint point{slots_, {}, this, {}};
  point.own.reserve(places_.size());
  Errors found = Errors::OfOnePoint(nullptr);
  for (const OwnPlace& place : places_) {
    const Node& node = written[place.written]->value;
    std::optional<json> value = place.alias ? ReadValue(ForHostKey(node, *place.alias), place.rule, place.path, &found)
                                            : ReadValue(node, place.rule, place.path, &found);
    if (!value) return std::nullopt;
    for (const OptionInfo* option : place.seen_as) {
      const std::optional<json> seen = FromHostKey(*value, *option);
      if (seen && seen->is_number() && option->range && !InRange(*option->range, seen->get<double>())) return std::nullopt;
    }
    point.own.push_back(*std::move(value));
  }
  if (!found.empty() || !found.notes().empty() || !RowsFit(point.own)) return std::nullopt;
  return point;
}

bool PointForm::RowsFit(const std::vector<json>& own) const {
  const auto is_of_rows = [](const OwnPlace& place) { return place.key && place.path.starts_with("rollout."); };
  if (std::none_of(places_.begin(), places_.end(), is_of_rows)) return true;
  const auto value_at = [&](const std::string& path) -> const json* {
    if (const json* value = Find(path, own)) return value;
    const auto found = common_.values.find(path);
    return found == common_.values.end() ? nullptr : &found->second;
  };
  return backplane::RowsOf(value_at) <= RolloutConfig::kMostRows;
}

const json* PointForm::Find(const std::string& path, const std::vector<json>& own) const {
  for (size_t i = places_.size(); i-- > 0;)  // the last write counts
    if (places_[i].path == path) return &own[i];
  return nullptr;
}

void PointForm::PutOptions(const std::string& path, const std::vector<json>& own, json* options) const {
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].option && places_[i].options->path == path) (*options)[places_[i].option->info->path] = own[i];
}

const LoadedExperiment& PointForm::Load(const std::vector<json>& own) {
  for (size_t i = 0; i < places_.size(); ++i) {
    const OwnPlace& place = places_[i];
    if (place.key) {
      place.key->set(*place.key, own[i], &loaded_.experiment);
    } else {
      place.of(loaded_.experiment)[place.option->info->path] = own[i];
    }
  }
  return loaded_;
}

}  // namespace backplane
