#include "sweep/json_schema.hpp"

#include "config/schema.hpp"
#include "config/spelling.hpp"
#include "record/report_kinds.hpp"
#include "sweep/sweep_schema.hpp"
#include "sweep/value_schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string ShortId(const PluginInfo& info) { return info.id.substr(info.id.find('.') + 1); }

// {"env": {"plugin": {"const": "name"}}}, as a condition.
json Names(const std::string& section, const json& name, const char* key = "plugin") {
  json names = {{"properties", {{key, name}}}, {"required", {key}}};
  if (section.empty()) return names;
  return {{"properties", {{section, std::move(names)}}}, {"required", {section}}};
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const std::vector<const PluginInfo*>& plugins) : plugins_(plugins) {}

  json Write() {
    json schema = Closed(json::object());
    for (const HostKey& key : HostKeys()) Place(&schema, key.path, KeySchema(key));
    for (const char* section : {"env", "learner"}) schema["properties"][section]["type"].push_back("string");  // its plugin
    json without_budget = json::array(), rules = json::array();
    for (const ReportKind& kind : kReportKinds) {
      if (kind.measures_speed) without_budget.push_back(kind.name);
      rules.push_back(KindRule(kind));
    }
    // What stands below is given by a base file, by the sweep or by the stages, if the file has one of them.
    json complete = {
        {"required", {"env", "learner"}},
        {"properties",
         {{"env", {{"required", {"plugin"}}}}, {"learner", {{"required", {"plugin"}}}}, {"budget", {{"minProperties", 1}}}}},
        {"anyOf", {{{"required", {"budget"}}}, Names("report", {{"enum", std::move(without_budget)}}, "kind")}}};
    json not_alone = json::object();
    for (const char* key : {"base", "sweep", "stages", kOlderNameOfStages})
      not_alone["anyOf"].push_back({{"required", json::array({key})}});
    rules.push_back({{"if", not_alone}, {"then", json::object()}, {"else", std::move(complete)}});
    for (const PluginInfo* info : plugins_) {
      if (info->kind == BP_KIND_ENV) rules.push_back(EvaluationRule(*info));
    }
    schema["allOf"] = std::move(rules);
    for (const PluginInfo* info : OfKind(BP_KIND_LEARNER))
      schema["properties"]["learner"]["allOf"].push_back(OptionsRule(*info));
    json& older = schema["properties"][kOlderNameOfStages] = schema["properties"]["stages"];
    older["$comment"] = "an older name of stages";
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Backplane experiment";
    return schema;
  }

 private:
  // If the report is of this kind, it has no key that only another kind takes.
  static json KindRule(const ReportKind& kind) {
    json others = json::object();
    for (const ReportKind& other : kReportKinds) {
      for (const std::string_view path : other.keys_of_its_own) {
        if (other.name != kind.name && !path.empty()) others[path.substr(path.find('.') + 1)] = {{"type", "null"}};
      }
    }
    return {{"if", Names("report", {{"const", kind.name}}, "kind")},
            {"then", {{"properties", {{"report", {{"properties", std::move(others)}}}}}}}};
  }

  // Below the objects that the path's sections stand for.
  static void Place(json* object, const std::string& path, json value) {
    const size_t dot = path.find('.');
    json& properties = (*object)["properties"];
    const std::string head = path.substr(0, dot);
    if (dot == std::string::npos) {
      properties[head] = std::move(value);
      return;
    }
    if (!properties.contains(head)) {
      properties[head] = Closed(json::object());
      properties[head]["type"] = {"object", "null"};
    }
    Place(&properties[head], path.substr(dot + 1), std::move(value));
  }

  json KeySchema(const HostKey& key) {
    json schema;
    switch (key.type) {
      case ValueType::kBase: schema = {{"type", "string"}}; break;
      case ValueType::kSweep: schema = SweepSchema(); break;
      case ValueType::kStages: schema = StagesSchema(); break;
      case ValueType::kPluginName: schema = PluginName(key.path == "env.plugin" ? BP_KIND_ENV : BP_KIND_LEARNER); break;
      case ValueType::kPluginOptions: schema = {{"type", {"object", "null"}}}; break;
      case ValueType::kMonitors: schema = Monitors(); break;
      default: schema = SchemaOf(key.rule());
    }
    const bool may_be_null = !key.def && !key.required && key.set && key.type < ValueType::kPluginName;
    if (may_be_null || (key.type == ValueType::kJson && !schema.empty())) schema = AnyOf(std::move(schema), {{"type", "null"}});
    return Described(std::move(schema), key.doc, key.rule(), key.def);
  }

  std::vector<const PluginInfo*> OfKind(uint32_t kind) const {
    std::vector<const PluginInfo*> found;
    for (const PluginInfo* info : plugins_) {
      if (info->kind == kind) found.push_back(info);
    }
    return found;
  }

  json PluginName(uint32_t kind) const {
    json ids = json::array();
    for (const PluginInfo* info : OfKind(kind)) ids.push_back(ShortId(*info));
    return AnyOf({{"enum", std::move(ids)}}, {{"type", "string"}, {"pattern", "/|\\.so$"}});
  }

  static json Options(const PluginInfo& info) {
    json properties = json::object();
    for (const OptionInfo& option : info.options) {
      const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
      const std::string doc = option.doc + (option.unit.empty() ? "" : " [" + option.unit + "]");
      json value = Described(SchemaOf(rule), doc, rule, option.def ? option.def->c_str() : nullptr);
      const bool may_be_null = !option.def && !(option.flags & BP_PARAM_REQUIRED);
      if (may_be_null) value = AnyOf(std::move(value), {{"type", "null"}});
      properties[option.path] = value;
      for (const std::string& alias : option.aliases) {
        const HostKey* key = FindHostKey(alias);
        if (key && key->set) {
          // A host key under the option's name takes what the key takes: 4GiB as well as 4096 of the option's unit.
          properties[option.path] = AnyOf(std::move(properties[option.path]), SchemaOf(key->rule()));
        } else {
          properties[alias] = {{"$comment", "another name of " + option.path}};
          properties[alias].update(value);
        }
      }
    }
    json schema = Closed(std::move(properties));
    schema["type"] = {"object", "null"};
    return schema;
  }

  // If the section names the plugin, its options have the plugin's schema.
  json OptionsRule(const PluginInfo& info) const {
    return {{"if", Names("", {{"const", ShortId(info)}})}, {"then", {{"properties", {{"options", Options(info)}}}}}};
  }

  json EvaluationRule(const PluginInfo& info) const {
    const json env = {{"properties", {{"options", Options(info)}}}};
    return {{"if", Names("env", {{"const", ShortId(info)}})},
            {"then", {{"properties", {{"evaluation", {{"properties", {{"env", env}}}}}, {"env", env}}}}}};
  }

  json Monitors() const {
    json mapping = Closed({{"plugin", PluginName(BP_KIND_MONITOR)}, {"options", {{"type", {"object", "null"}}}}});
    mapping["required"] = {"plugin"};
    for (const PluginInfo* info : OfKind(BP_KIND_MONITOR)) mapping["allOf"].push_back(OptionsRule(*info));
    return {{"type", "array"}, {"items", AnyOf(PluginName(BP_KIND_MONITOR), std::move(mapping))}};
  }

  const std::vector<const PluginInfo*>& plugins_;
};

}  // namespace

json JsonSchema(const std::vector<const PluginInfo*>& plugins) { return SchemaWriter(plugins).Write(); }

}  // namespace backplane
