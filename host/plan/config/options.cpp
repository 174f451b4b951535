#include "config/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/infinity.hpp"
#include "base/json_text.hpp"
#include "config/command.hpp"
#include "config/option_aliases.hpp"
#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "text/units.hpp"
#include "yaml/flow_text.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kWritten[] = "learner.written";

class OptionReader {
 public:
  OptionReader(const Node& root, const PluginSlot& slot, std::string path, Values* host, Errors* errors)
      : root_(root), slot_(slot), table_(*slot.table), path_(std::move(path)), host_(host), errors_(errors) {}

  // The options that stand in the file.
  json ReadGiven(const std::vector<PluginSlot>& slots) {
    json result = json::object();
    const Node* map = FindPath(root_, path_);
    if (!map || map->IsNull() || map->reported) return result;
    if (!map->IsMap()) {
      errors_->Add(map->mark, fmt::format("{}: expected a mapping, got {}", path_, Describe(*map)));
      return result;
    }
    for (const Entry& entry : map->entries) {
      const TableOption* option = table_.Find(entry.key);
      if (option) {
        ReadOne(entry, *option, &result);
      } else if (table_.info().id == kFunctionLearner) {
        ReadOfFunction(entry, &result);
      } else if (OfCommand()) {
        errors_->Add(entry.mark, NotInCommand(entry.key));
      } else {
        const bool wanted = errors_->WantsHint(entry.mark);
        const KeyHint hint = wanted ? HintFor(slot_.options_path(), entry, root_, slots) : KeyHint();
        errors_->Add(entry.mark, fmt::format("{} has no option '{}'{}", table_.info().id, entry.key, hint.what),
                     ErrorCode::kOther, hint.line);
      }
    }
    return result;
  }

  // The texts of a command's options that their values do not contain.
  void PutWritten() {
    if (!OfCommand()) return;
    host_->values.erase(kWritten);
    if (!written_.empty()) host_->values[kWritten] = written_;
  }

  // Adds the defaults to the given options.
  void FillIn(json* result) {
    auto& given = result->get_ref<json::object_t&>();
    for (const TableOption& option : table_.options()) {
      const std::string& name = option.info->path;
      const auto place = given.lower_bound(name);
      if ((place != given.end() && place->first == name) || failed_.contains(name)) continue;
      if (option.host_key) {
        CheckAgainstHost(option);
      } else {
        given.emplace_hint(place, name, Default(option));
      }
    }
  }

 private:
  bool OfCommand() const { return table_.info().id == kCommandLearner; }

  std::string NotInCommand(const std::string& name) const {
    constexpr size_t kMostNames = 20;  // each unknown key has its own error, and a command may have thousands of placeholders
    std::string found;
    for (size_t i = 0; i < std::min(table_.options().size(), kMostNames); ++i)
      found += (i == 0 ? "{" : ", {") + table_.options()[i].info->path + "}";
    if (table_.options().size() > kMostNames) found += ", ...";
    return fmt::format("{}.{}: expected the placeholder {{{}}} in learner.command, got {}{}", path_, name, name,
                       found.empty() ? "no placeholder of an option" : found,
                       IsHostPlaceholder(name) ? "; the host fills in {" + name + "}" : "");
  }

  // Any value of JSON, under a name that a path can contain.
  void ReadOfFunction(const Entry& entry, json* result) {
    const std::string name = path_ + "." + entry.key;
    if (entry.key == "seed") {
      errors_->Add(entry.mark, name + ": the host sets config[\"seed\"]; use the key seed, or sweep.seeds, at the top level");
    } else if (const size_t dot = entry.key.find('.'); dot != entry.key.npos) {
      errors_->Add(entry.mark, fmt::format("{}: expected a name without dots, got '{}'", path_, entry.key), ErrorCode::kOther,
                   KeyLine(entry.key.substr(0, dot), "{" + entry.key.substr(dot + 1) + ": " + FlowText(entry.value) + "}"));
    } else if (IsExact(entry.value, name)) {
      (*result)[entry.key] = PlainJson(entry.value);
      if (entry.mark.source) host_->origin[name] = Place(entry.mark);
    }
  }

  // Returns false after an error: JSON would change a number in the value.
  bool IsExact(const Node& node, const std::string& name) {
    bool good = !node.reported;
    for (const Node& item : node.items) good = IsExact(item, name) && good;
    for (const Entry& entry : node.entries) good = IsExact(entry.value, name + "." + entry.key) && good;
    if (!node.IsScalar() || node.quoted) return good;
    const bool digits = node.text.find_first_not_of("0123456789", node.text.starts_with('-') ? 1 : 0) == std::string::npos &&
                        node.text.size() > 1;
    const bool too_large = digits && !ParseInteger(node.text);
    if (!too_large && !ParseInfinity(node.text)) return good;
    errors_->Add(node.mark, fmt::format("{}: expected a finite number of at most 64 bits, got {}; quote it to pass a text",
                                        name, node.text));
    return false;
  }

  void ReadOne(const Entry& entry, const TableOption& known, json* result) {
    const OptionInfo& option = *known.info;
    std::string name = path_ + "." + option.path;
    if (entry.value.IsNull() && OfCommand()) {  // as if it were left out: Default() reports it
      nulls_[option.path] = entry.value.mark;
      return;
    }
    bool unset = entry.value.IsNull() && !option.def && !(option.flags & BP_PARAM_REQUIRED);
    std::optional<json> value = unset ? json(nullptr) : ReadValue(entry.value, known.rule, name, errors_);
    if (!value) {
      failed_[option.path] = true;
      return;
    }
    (*result)[option.path] = *value;
    if (OfCommand()) KeepText(option.path, entry.value, *value);
    if (entry.mark.source) host_->origin[name] = Place(entry.mark);
  }

  // A command gets a value as it is written. A saved configuration contains this text next to the value, which may have been
  // replaced since.
  void KeepText(const std::string& name, const Node& node, const json& value) {
    if (value.is_string()) return;
    if (node.text != JsonText(value)) {
      written_[name] = node.text;
      return;
    }
    const Node* const map = FindPath(root_, kWritten);
    const Entry* const saved = map && map->IsMap() ? FindEntry(*map, name) : nullptr;
    if (!saved || !saved->value.IsScalar()) return;
    Node plain = saved->value;
    plain.quoted = false;
    if (JsonText(PlainJson(plain)) == JsonText(value)) written_[name] = plain.text;
  }

  // Another name of a host key is no value of its own: the trial shows the plugin the key's (AddHostNamed).
  void CheckAgainstHost(const TableOption& known) {
    const OptionInfo& option = *known.info;
    const std::string& host_path = known.host_key->path;
    auto found = host_->values.find(host_path);
    const auto value = found == host_->values.end() ? std::nullopt : FromHostKey(found->second, option);
    // Messages of the plugin about the option show this place.
    const auto origin = host_->origin.find(host_path);
    if (value && origin != host_->origin.end()) host_->origin[path_ + "." + option.path] = origin->second;
    if (!value || !value->is_number() || !option.range || InRange(*option.range, value->get<double>())) return;
    errors_->Add(PathMark(root_, host_path), fmt::format("{}: {} is out of range {} of {}'s option '{}'", host_path,
                                                         value->dump(), *option.range, table_.info().id, option.path));
  }

  json Default(const TableOption& known) {
    if (known.default_value) return *known.default_value;
    const OptionInfo& option = *known.info;
    const Node* mapping = FindPath(root_, slot_.path);
    Mark mark = mapping ? mapping->mark : root_.mark;
    const std::string& id = table_.info().id;
    if (OfCommand()) {
      const auto null = nulls_.find(option.path);
      errors_->Add(null == nulls_.end() ? PlaceholderMark(option.path) : null->second,
                   fmt::format("{{{}}}: expected a value in learner.options.{}, got none; write a literal brace twice",
                               option.path, option.path));
    } else if (option.def) {
      errors_->Add(mark, fmt::format("{} declares an invalid default for '{}': {}", id, option.path, known.bad_default));
    } else if (option.flags & BP_PARAM_REQUIRED) {
      errors_->Add(mark, fmt::format("{} needs the option '{}': {}", id, option.path, option.doc));
    }
    return nullptr;
  }

  // Where the placeholder stands first in learner.command.
  Mark PlaceholderMark(const std::string& name) {
    const Node* command = FindPath(root_, "learner.command");
    if (placeholders_.empty()) {
      for (const Node& word : command->items) {
        std::string why_not;
        for (const std::string& each : PlaceholdersIn(word.text, &why_not).value_or(std::vector<std::string>()))
          placeholders_.emplace(each, word.mark);
      }
    }
    const auto found = placeholders_.find(name);
    return found == placeholders_.end() ? command->mark : found->second;
  }

  const Node& root_;
  const PluginSlot& slot_;
  const OptionTable& table_;
  std::string path_;
  Values* host_;
  Errors* errors_;
  json written_ = json::object();                       // by option of a command
  std::map<std::string, bool> failed_;                  // given, with an error
  std::map<std::string, Mark> nulls_;                   // options of a command whose value is null
  std::unordered_map<std::string, Mark> placeholders_;  // filled at the first use
};

}  // namespace

void Values::Put(const std::string& path, json value, const Mark& mark) {
  values[path] = std::move(value);
  if (mark.source) origin[path] = Place(mark);
}

json ReadOptions(const Node& root, const PluginSlot& slot, const std::vector<PluginSlot>& slots, Values* host, Errors* errors) {
  if (!slot.table) return json::object();
  OptionReader reader(root, slot, slot.options_path(), host, errors);
  json result = reader.ReadGiven(slots);
  reader.FillIn(&result);
  reader.PutWritten();
  return result;
}

json ReadEvaluationOptions(const Node& root, const std::vector<PluginSlot>& slots, Values* host, Errors* errors) {
  const PluginSlot* slot = FindSlot(slots, "env.options");
  if (!slot || !slot->table) return json::object();
  return OptionReader(root, *slot, "evaluation.env.options", host, errors).ReadGiven(slots);
}

}  // namespace backplane
