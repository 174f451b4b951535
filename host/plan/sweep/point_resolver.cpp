#include "sweep/point_resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/suggest.hpp"
#include "config/command.hpp"
#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "sweep/identity.hpp"
#include "text/units.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string Leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// True for a text that is not read as itself without quotes.
bool NeedsQuotes(const std::string& text) {
  const bool is_null = text == "null" || text == "Null" || text == "NULL" || text == "~";
  return is_null || ParseNumber(text) || IsFlag(text, true) || IsFlag(text, false) || text.find('"') != text.npos;
}

// `exact`: values that differ are shown differently.
std::string Show(const json& value, bool exact) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    return exact && NeedsQuotes(text) ? json(text).dump(-1, ' ', false, json::error_handler_t::replace) : text;
  }
  if (value.is_number_float() && !exact) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_object()) return value.dump();
  std::string inner;
  const json values = value.contains("plugin") ? value.value("options", json::object()) : value;
  for (const auto& [key, item] : values.items()) inner += (inner.empty() ? "" : ",") + key + "=" + Show(item, exact);
  const std::string plugin = value.contains("plugin") ? Show(value["plugin"], exact) : "";
  return inner.empty() ? plugin : plugin + "(" + inner + ")";
}

// A number or flag as it is written, because a command gets it so. Empty: use Show.
std::string TextForCommand(const Override& given, const json& value, const ReadPoint& point) {
  constexpr size_t kMostDigits = 12;  // a search and a range write more
  const PluginSlot* const slot = FindSlot(*point.slots, "learner.options");
  const bool of_command = slot && slot->table && slot->table->info().id == kCommandLearner;
  const Node& node = given.value;
  if (!of_command || !point.Target(given.path).starts_with("learner.options.") || !node.IsScalar() || node.quoted) return "";
  const bool is_own = node.text == value.dump();
  const bool is_used = !value.is_string() && PlainJson(node).dump() == value.dump();  // --set replaces it
  return is_used && (!is_own || node.text.size() <= kMostDigits) ? node.text : "";
}

// The text of a result that is neither null nor a list, in the format of its key.
std::string ScalarText(const json& value, const HostKey* key) {
  if (value.is_string()) return value.get<std::string>();
  const bool whole =
      value.is_number_float() && value == std::floor(value.get<double>()) && std::abs(value.get<double>()) < 0x1p53;
  const std::string text = whole ? std::to_string(value.get<int64_t>()) : value.dump();
  if (!value.is_number() || !key) return text;
  switch (key->type) {
    case ValueType::kDuration: return FormatDuration(value.get<double>());
    case ValueType::kSize:
    case ValueType::kSizeOrShare: return text + "B";
    case ValueType::kPercent: return FormatPercent(value.get<double>());
    default: return text;
  }
}

// A result as it would stand in the file, so that it is read by the rules of the option it is for.
Node AsNode(const json& value, const HostKey* key, const Mark& mark) {
  Node node;
  node.mark = mark;
  if (value.is_array()) {
    node.kind = Node::Kind::kList;
    for (const json& item : value) node.items.push_back(AsNode(item, nullptr, mark));
    return node;
  }
  if (value.is_null()) return node;
  node.kind = Node::Kind::kScalar;
  node.quoted = value.is_string() && !key;
  node.text = ScalarText(value, key);
  return node;
}

void FindLeftOutKeys(const Node& map, const std::string& prefix, std::set<std::string>* keys) {
  for (const Entry& entry : map.entries) {
    const std::string path = prefix + entry.key;
    if (entry.value.IsMap() && IsSection(path)) {
      FindLeftOutKeys(entry.value, path + ".", keys);
    } else {
      keys->merge(KeysOfSwept(path));
    }
  }
}

}  // namespace

PointResolver::PointResolver(const ExperimentText& text, Sweep sweep, Stages stages, PluginLookup lookup,
                             const KeyDefaults& defaults)
    : sweep_(std::move(sweep)), stages_(std::move(stages)) {
  for (const Assigned& assigned : sweep_.assigned) {
    const auto found = stages_.Split(assigned.override.path);
    if (!found) continue;
    Assigned meant = assigned;
    meant.override.path = found->second;
    meant.override.replaces = true;  // the stage's own value
    of_one_stage_.emplace(&assigned, OfOneStage{found->first, std::move(meant)});
  }
  auto tables = std::make_shared<PluginTables>(std::move(lookup));
  resolvers_.push_back(std::make_unique<Resolver>(text.root, text.preset.values, text.set, tables, defaults));
  for (SweptFile& file : sweep_.files) {
    FindLeftOutKeys(file.root, "", &named_by_files_);
    Node root = text.root;
    MergeOver(std::move(file.root), &root);
    resolvers_.push_back(std::make_unique<Resolver>(std::move(root), text.preset.values, text.set, tables, defaults));
  }
  std::map<std::string, size_t> leaves;
  for (const std::string& path : sweep_.paths) ++leaves[Leaf(path)];
  for (const std::string& path : sweep_.paths) short_names_[path] = leaves[Leaf(path)] > 1 ? path : Leaf(path);
}

Assignments PointResolver::AssignmentsOf(const PointWrites& writes) {
  Assignments assignments;
  assignments.reserve(writes.assigned.size() + writes.derived.size());
  for (const Assigned* assigned : writes.assigned) assignments.push_back(&assigned->override);
  for (const Override& derived : writes.derived) assignments.push_back(&derived);
  return assignments;
}

ReadPoint PointResolver::Read(const PointWrites& writes, Errors* errors) const {
  return resolvers_[writes.file]->ReadByPlace(AssignmentsOf(writes), errors);
}

std::optional<LoadedExperiment> PointResolver::Base() const {
  Errors errors;
  ReadPoint point = resolvers_.front()->Read({}, &errors);
  return errors.empty() ? std::optional(Resolver::Build(std::move(point))) : std::nullopt;
}

LoadedExperiment PointResolver::Load(const PointWrites& writes) const {
  Errors none;
  return Resolver::Build(resolvers_[writes.file]->Read(AssignmentsOf(writes), &none));
}

const Experiment& PointResolver::Look(const PointWrites& writes) const {
  Errors none;
  ReadPoint point = Read(writes, &none);
  return point.form ? point.form->Load(point.own).experiment : looked_at_.emplace(Resolver::Build(std::move(point)).experiment);
}

const std::string& PointResolver::HintAt(const std::string& path, const ReadPoint& point) const {
  const auto [known, fresh] = hints_.try_emplace({point.slots.get(), path});
  if (fresh) known->second = DidYouMean(NearestPaths(path, *point.slots));
  return known->second;
}

std::optional<json> PointResolver::Value(const ReadPoint& point, const std::string& path, std::string* why_not) const {
  std::optional<json> value = point.At(path);
  const std::string target = point.Target(path);
  const HostKey* key = FindHostKey(target);
  if (!value) {
    *why_not = key || IsSection(target) ? fmt::format("'{}' has no value here", path)
                                        : fmt::format("unknown path '{}'{}", path, HintAt(path, point));
    return std::nullopt;
  }
  if (value->is_object()) {
    *why_not = fmt::format("'{}' is a mapping, not a value", path);
    return std::nullopt;
  }
  if (key && value->is_string()) {
    const std::string text = value->get<std::string>();
    if (auto seconds = key->type == ValueType::kDuration ? ParseDuration(text) : std::nullopt) return *seconds;
    const bool is_size = key->type == ValueType::kSize || key->type == ValueType::kSizeOrShare;
    if (auto bytes = is_size ? ParseSize(text) : std::nullopt) return *bytes;
    if (auto percent = key->type == ValueType::kPercent ? ParsePercent(text) : std::nullopt) return *percent;
  }
  return value;
}

void PointResolver::DecideWhen(const std::vector<const Assigned*>& conditional, PointWrites* writes, Errors* errors) const {
  std::optional<ReadPoint> point;
  for (const Assigned* assigned : conditional) {
    Errors not_complete_yet = Errors::OfOnePoint(nullptr);
    if (!point) point = Read(*writes, &not_complete_yet);
    try {
      const auto lookup = [&](const std::string& path, std::string* why_not) { return Value(*point, path, why_not); };
      if (!assigned->when->Test(lookup)) continue;
      writes->assigned.push_back(assigned);
      point.reset();
    } catch (const NoValue& error) {
      errors->Add(assigned->when->At(error.offset), "when: " + error.why);
    }
  }
}

void PointResolver::Derive(ResolvedPoint* point, Errors* errors) const {
  if (sweep_.derive.empty()) return;
  Errors not_complete_yet = Errors::OfOnePoint(nullptr);
  point->read = Read(point->writes, &not_complete_yet);
  std::map<std::string, json> known;  // derived so far, by target
  const auto lookup = [&](const std::string& path, std::string* why_not) {
    auto found = known.find(point->read.Target(path));
    return found == known.end() ? Value(point->read, path, why_not) : std::optional(found->second);
  };
  const auto drop = [&](const Derived& derived, std::string why) {
    point->dropped_by = "derive " + derived.path;
    point->why = std::move(why);
  };
  for (const Derived& derived : sweep_.derive) {
    try {
      const json value = derived.expression.Evaluate(lookup);
      const std::string filled = derived.expression.Filled(lookup);
      const std::string target = point->read.Target(derived.path);
      const std::optional<ValueRule> rule = point->read.RuleAt(derived.path);
      Node node = AsNode(value, FindHostKey(target), derived.mark);
      if (rule) {
        Errors misfit;
        const bool fits = ReadValue(node, *rule, derived.path, &misfit).has_value();
        const bool whole = value.is_number_integer() || (value.is_number() && value == std::floor(value.get<double>()));
        if (!fits && rule->type == ValueType::kInteger && value.is_number() && !whole)
          return drop(derived, filled + " is no integer");
        if (!fits) return drop(derived, filled + ": " + misfit.Sorted().front().message);
      }
      known[target] = value;
      point->writes.derived.push_back(Override{derived.path, derived.mark, false, std::move(node)});
    } catch (const NoValue& error) {
      if (error.of_numbers) return drop(derived, error.why);
      errors->Add(derived.expression.At(error.offset), "derive: " + error.why);
    }
  }
}

// NULL: it is another stage's.
const Assigned* PointResolver::InStage(const Assigned* assigned, const Stage* stage) const {
  const auto found = of_one_stage_.find(assigned);
  if (found == of_one_stage_.end()) return assigned;
  return found->second.stage == stage ? &found->second.assigned : nullptr;
}

std::optional<std::string> PointResolver::PathInStage(const std::string& path, const Stage* stage) const {
  const auto found = stages_.Split(path);
  if (!found) return path;
  return found->first == stage ? std::optional(found->second) : std::nullopt;
}

void PointResolver::Describe(const Combination& combination, const Stage* stage, ResolvedPoint* point) const {
  std::map<std::string, const Assigned*> written;
  for (const Assigned* assigned : point->writes.assigned) written[assigned->override.path] = assigned;
  std::set<std::string> removed;
  for (const AxisValue* step : combination.steps) {
    for (const Assigned* each : step->assigned) {
      const Assigned* assigned = InStage(each, stage);
      if (assigned && !written.contains(assigned->override.path)) removed.insert(assigned->override.path);
    }
  }
  const auto value_of = [&](const std::string& path) -> std::optional<json> {
    if (removed.contains(path)) return std::nullopt;
    if (auto value = point->read.At(path)) return value;
    auto found = written.find(path);
    return found == written.end() ? std::nullopt : std::optional(PlainJson(found->second->override.value));
  };
  std::set<std::string> listed;
  const auto list = [&](const std::string& path) {
    if (!listed.insert(path).second) return;
    if (auto value = value_of(path)) point->values.emplace_back(path, *std::move(value));
  };
  for (const std::string& path : sweep_.paths) {
    if (const auto here = PathInStage(path, stage)) list(*here);
  }
  point->swept = point->values.size();
  for (const std::string& path : stages_.paths) list(path);
  Name(combination, stage, value_of, point);
}

void PointResolver::Name(const Combination& combination, const Stage* stage, const ValueLookup& value_of,
                         ResolvedPoint* point) const {
  std::string exact_name;
  const auto add = [&](const std::string& part, const std::string& exact) {
    (point->name += point->name.empty() ? "" : " ") += part;
    (exact_name += exact_name.empty() ? "" : " ") += exact;
  };
  // The name of a stage includes the own values of earlier stages, which distinguish it from other chains' stages.
  const auto later = [&](const Assigned* assigned) {
    const auto found = of_one_stage_.find(assigned);
    return found != of_one_stage_.end() && found->second.stage > stage;
  };
  for (const AxisValue* step : combination.steps) {
    const bool all_later = !step->assigned.empty() && std::all_of(step->assigned.begin(), step->assigned.end(), later);
    if (!step->name.empty() && !all_later) add(step->name, step->name);
    for (size_t i = 0; i < step->assigned.size() && step->name.empty(); ++i) {
      const Override& given = step->assigned[i]->override;
      if (later(step->assigned[i])) continue;
      const Assigned* here = InStage(step->assigned[i], stage);
      const auto value = here ? value_of(here->override.path) : std::optional(PlainJson(given.value));
      if (!value) continue;
      const std::string key = short_names_.at(given.path) + "=";
      const std::string text = here ? TextForCommand(here->override, *value, point->read) : "";
      add(key + (text.empty() ? Show(*value, /*exact=*/false) : text),
          key + (text.empty() ? Show(*value, /*exact=*/true) : text));
    }
  }
  if (exact_name != point->name) point->exact_name = std::move(exact_name);
}

Errors PointResolver::TestRules(ResolvedPoint* point) const {
  const auto lookup = [&](const std::string& path, std::string* why_not) { return Value(point->read, path, why_not); };
  Errors errors;
  for (size_t i = 0; i < sweep_.where.size() && point->dropped_by.empty(); ++i) {
    try {
      if (!sweep_.where[i].Test(lookup)) point->dropped_by = fmt::format("where #{}", i + 1);
    } catch (const NoValue& error) {
      if (error.of_numbers) {
        point->dropped_by = fmt::format("where #{}", i + 1);
        point->why = error.why;
      } else {
        errors.Add(sweep_.where[i].At(error.offset), "where: " + error.why);
      }
    }
  }
  return errors;
}

std::optional<ResolvedPoint> PointResolver::Resolve(const Combination& combination, const Stage* stage, Errors* errors) const {
  ResolvedPoint point;
  point.writes.file = combination.file;
  std::vector<const Assigned*> conditional;
  if (stage) point.writes.assigned = stage->assigned;
  for (const AxisValue* step : combination.steps) {
    for (const Assigned* each : step->assigned) {
      if (const Assigned* assigned = InStage(each, stage))
        (assigned->when ? conditional : point.writes.assigned).push_back(assigned);
    }
  }
  Errors found = Errors::OfOnePoint(errors);
  DecideWhen(conditional, &point.writes, &found);
  // A whole mapping is written before values inside it, in any order of the file.
  const auto depth = [](const Assigned* a) { return std::count(a->override.path.begin(), a->override.path.end(), '.'); };
  std::stable_sort(point.writes.assigned.begin(), point.writes.assigned.end(),
                   [&](const Assigned* a, const Assigned* b) { return depth(a) < depth(b); });
  Derive(&point, &found);
  if (point.dropped_by.empty()) point.read = Read(point.writes, &found);
  Describe(combination, stage, &point);
  const Errors in_where = TestRules(&point);
  // A point that a rule takes away need not be a good one.
  if (!point.dropped_by.empty()) return point;
  // Errors in the point's values come before errors of rules that follow from them.
  errors->AddNewPlaces(found);
  if (found.empty()) errors->AddNewPlaces(in_where);
  return found.empty() && in_where.empty() ? std::optional(std::move(point)) : std::nullopt;
}

const std::set<std::string>& PointResolver::SweptKeyNames(const ReadPoint& point, const Stage* stage) const {
  const auto [known, fresh] = swept_keys_.try_emplace({point.slots.get(), stage});
  if (!fresh) return known->second;
  known->second = named_by_files_;
  for (const std::string& path : sweep_.paths) {
    if (const auto here = PathInStage(path, stage)) known->second.merge(KeysOfSwept(point.Target(*here)));
  }
  return known->second;
}

std::map<std::string, json> PointResolver::SweptKeys(const ReadPoint& point, const Stage* stage) const {
  std::map<std::string, json> values;
  for (const std::string& key : SweptKeyNames(point, stage)) {
    json value = point.At(key).value_or(json(nullptr));
    // A limit that only other points have does not keep this point from being extended.
    if (!value.is_null() || !IsBudgetKey(key)) values[key] = std::move(value);
  }
  return values;
}

}  // namespace backplane
