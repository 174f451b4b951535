#include "sweep/json_schema.hpp"

#include "config/short_forms.hpp"
#include "contract/schema.hpp"
#include "record/report_kinds.hpp"
#include "sweep/schema_terms.hpp"
#include "sweep/sweep_schema.hpp"
#include "sweep/value_schema.hpp"

namespace backplane {
namespace {

using namespace schema;

// {"env": {"plugin": "name"}}, as a condition.
json Names(const std::string& section, json name, const char* key = "plugin") {
  return Has(section, Has(key, std::move(name)));
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const std::vector<const PluginInfo*>& plugins) : plugins_(plugins) {}

  json Write() {
    json schema = Closed(json::object());
    for (const HostKey& key : HostKeys()) Place(&schema, key.path, KeySchema(key));
    PlaceAliases(&schema);
    for (const char* section : {"env", "learner"}) schema["properties"][section]["type"].push_back("string");  // its plugin
    schema["properties"]["rollout"] = Either(std::move(schema["properties"]["rollout"]), Const("auto"));
    json without_budget = json::array();
    for (const ReportKind& kind : kReportKinds) {
      if (kind.measures_speed) without_budget.push_back(kind.name);
      AddRule(KindRule(kind), &schema);
    }
    // What stands below is given by a base file, by the sweep, by the arms or by the stages, if the file has one of them.
    const json is_command = Names("learner", Type("array"), "command");
    json with_plugins = Required({"env", "learner"});
    with_plugins.update(Properties(
        {{"env", Has("plugin", Type("string"))}, {"learner", Has("plugin", Type("string"))}, {"budget", NotEmpty()}}));
    with_plugins.update(AnyOf({Required({"budget"}), Names("report", Enum(std::move(without_budget)), "kind")}));
    json complete = AnyOf({is_command, std::move(with_plugins)});
    AddRule(CommandRule(), &schema["properties"]["learner"]);
    AddRule(If(is_command, Properties({{"budget", Properties({{"epochs", Type("null")}})}})), &schema);
    std::vector<json> not_alone;
    for (const char* key : {"base", "sweep", "compare", "stages", kOlderNameOfStages}) not_alone.push_back(Required({key}));
    for (const HostKey& key : HostKeys()) {  // another name may stand for the section
      for (const std::string& name : OtherNames(key))
        if (!FindHostKey(name) && schema["properties"].contains(name)) not_alone.push_back(Required({name.c_str()}));
    }
    AddRule(With(If(AnyOf(std::move(not_alone)), json::object()), "else", std::move(complete)), &schema);
    for (const PluginInfo* info : OfKind(BP_KIND_ENV)) AddRule(EvaluationRule(*info), &schema);
    for (const PluginInfo* info : OfKind(BP_KIND_LEARNER)) AddRule(OptionsRule(*info), &schema["properties"]["learner"]);
    json& older = schema["properties"][kOlderNameOfStages];
    older = With(schema["properties"]["stages"], "$comment", "an older name of stages");
    return With(With(std::move(schema), "$schema", "http://json-schema.org/draft-07/schema#"), "title", "Backplane experiment");
  }

 private:
  // If the report is of this kind, it has no key that only another kind takes.
  static json KindRule(const ReportKind& kind) {
    json others = json::object();
    for (const ReportKind& other : kReportKinds) {
      for (const std::string_view path : other.keys_of_its_own) {
        if (other.name != kind.name && !path.empty()) others[path.substr(path.find('.') + 1)] = Type("null");
      }
    }
    return If(Names("report", Const(kind.name), "kind"), Properties({{"report", Properties(std::move(others))}}));
  }

  // A command is no plugin, and without one nothing is said of it.
  static json CommandRule() {
    json without = json::object();
    for (const HostKey& key : HostKeys())
      if (key.of_command) without[key.path.substr(key.path.find('.') + 1)] = Type("null");
    return With(If(Has("command", Type("array")), Properties({{"plugin", Type("null")}})), "else",
                Properties(std::move(without)));
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
    if (!properties.contains(head)) properties[head] = OrNull(Closed(json::object()));
    Place(&properties[head], path.substr(dot + 1), std::move(value));
  }

  // Other names of the very same, at the top and in the key's section.
  void PlaceAliases(json* schema) {
    for (const HostKey& key : HostKeys()) {
      const std::string section = key.path.substr(0, key.path.rfind('.') + 1);
      for (const std::string& name : OtherNames(key)) {
        const json value = With(KeySchema(key), "$comment", "another name of " + key.path);
        if (FindHostKeyByAlias(name) != &key) continue;
        if (!FindHostKey(name)) Place(schema, name, value);
        if (!FindHostKey(section + name)) Place(schema, section + name, value);
      }
    }
  }

  json KeySchema(const HostKey& key) {
    if (key.type == ValueType::kPluginName) {
      json name = PluginName(key.path == "env.plugin" ? BP_KIND_ENV : BP_KIND_LEARNER);
      return Described(Either(std::move(name), Type("null")), key.doc, key.rule(), nullptr);
    }
    json schema;
    switch (key.type) {
      case ValueType::kBase: schema = Type("string"); break;
      case ValueType::kSweep: schema = SweepSchema(); break;
      case ValueType::kStages: schema = StagesSchema(); break;
      case ValueType::kCompare: schema = CompareSchema(); break;
      case ValueType::kPluginOptions: schema = OrNull(Type("object")); break;
      case ValueType::kMonitors: schema = Monitors(); break;
      default: schema = SchemaOf(key.rule());
    }
    const bool may_be_null = !key.def && !key.required && key.set && key.type < ValueType::kPluginName;
    if (may_be_null || (key.type == ValueType::kJson && !schema.empty())) schema = Either(std::move(schema), Type("null"));
    return Described(std::move(schema), key.doc, key.rule(), key.def);
  }

  std::vector<const PluginInfo*> OfKind(uint32_t kind) const {
    std::vector<const PluginInfo*> found;
    for (const PluginInfo* info : plugins_) {
      if (info->kind == kind) found.push_back(info);
    }
    return found;
  }

  static std::vector<std::string> NamesOf(const PluginInfo& info) {
    std::vector<std::string> names = info.aliases;
    names.insert(names.begin(), {info.short_id(), info.id});
    return names;
  }

  json PluginName(uint32_t kind) const {
    json ids = json::array();
    for (const PluginInfo* info : OfKind(kind)) {
      for (std::string& name : NamesOf(*info)) ids.push_back(std::move(name));
    }
    return Either(Enum(std::move(ids)), Text("/|\\.so$"));
  }

  static json Options(const PluginInfo& info) {
    json properties = json::object();
    for (const OptionInfo& option : info.options) {
      const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
      const std::string doc = option.doc + (option.unit.empty() ? "" : " [" + option.unit + "]");
      json value = Described(SchemaOf(rule), doc, rule, option.def ? option.def->c_str() : nullptr);
      const bool may_be_null = !option.def && !(option.flags & BP_PARAM_REQUIRED);
      if (may_be_null) value = Either(std::move(value), Type("null"));
      properties[option.path] = value;
      for (const std::string& alias : option.aliases) {
        const HostKey* key = FindHostKey(alias);
        if (key && key->set) {
          // A host key under the option's name takes what the key takes: 4GiB as well as 4096 of the option's unit.
          properties[option.path] = Either(std::move(properties[option.path]), SchemaOf(key->rule()));
        } else if (alias.ends_with(']')) {
          properties[alias.substr(0, alias.find('['))] = With(Type("array"), "$comment", "each entry an option of its own");
        } else {
          properties[alias] = With(value, "$comment", "another name of " + option.path);
        }
      }
    }
    return OrNull(Closed(std::move(properties)));
  }

  // If the section names the plugin, its options have the plugin's schema.
  json OptionsRule(const PluginInfo& info) const {
    return If(Has("plugin", Enum(NamesOf(info))), Properties({{"options", Options(info)}}));
  }

  json EvaluationRule(const PluginInfo& info) const {
    const json env = Properties({{"options", Options(info)}});
    return If(Names("env", Enum(NamesOf(info))), Properties({{"evaluation", Properties({{"env", env}})}, {"env", env}}));
  }

  json Monitors() const {
    json mapping = Required({"plugin"}, Closed({{"plugin", PluginName(BP_KIND_MONITOR)}, {"options", OrNull(Type("object"))}}));
    for (const PluginInfo* info : OfKind(BP_KIND_MONITOR)) AddRule(OptionsRule(*info), &mapping);
    return List(Either(PluginName(BP_KIND_MONITOR), std::move(mapping)));
  }

  const std::vector<const PluginInfo*>& plugins_;
};

}  // namespace

nlohmann::json JsonSchema(const std::vector<const PluginInfo*>& plugins) { return SchemaWriter(plugins).Write(); }

}  // namespace backplane
