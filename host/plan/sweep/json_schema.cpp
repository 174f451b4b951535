#include "sweep/json_schema.hpp"

#include <map>
#include <set>

#include "config/short_forms.hpp"
#include "contract/schema.hpp"
#include "record/report_kinds.hpp"
#include "sweep/grammar.hpp"
#include "sweep/schema_terms.hpp"
#include "sweep/value_schema.hpp"

namespace backplane {
namespace {

using namespace schema;

// A path that can be swept: the host's own sections and the keys inside them.
std::string PathPattern() {
  std::set<std::string> tops;
  for (const HostKey& key : HostKeys()) {
    if (WhyNoAxis(key.path).empty()) tops.insert(key.path.substr(0, key.path.find('.')));
  }
  std::string pattern;
  for (const std::string& top : tops) pattern += (pattern.empty() ? "^(" : "|") + top;
  return pattern + ")(\\..+)?$";
}

// The same of one stage.
const char* const kPathInStage = R"(^(stages|phases)\..+\..+$)";

json PathName() { return AnyOf({Pattern(PathPattern()), Pattern(kPathInStage)}); }
json PathOrName() { return AnyOf({Const("name"), PathName()}); }
json PathNameOrWhy() { return AnyOf({Const("name"), Const("why"), PathName()}); }

json PathsTo(json value) { return Keys(PathName(), MapTo(std::move(value))); }

json ExpressionText() { return Only("type", {"string", "number", "boolean"}); }

json Choices() { return AtLeast(1, Type("array")); }

json Numbers(int n) { return AtLeast(n, AtMost(n, List(Type("number")))); }

json ValuesSchema() {
  const auto axis = [](const char* key, json values) {
    return Required({key}, Closed({{key, std::move(values)}, {"when", ExpressionText()}, {"why", Type("string")}}));
  };
  return AnyOf({Choices(), axis("range", Numbers(3)), axis("values", Choices())});
}

json DistributionSchema() {
  std::vector<json> any;
  for (const char* kind : {"uniform", "log_uniform", "int", "log_int"}) {
    const json step = With(Type("number"), "exclusiveMinimum", 0);
    any.push_back(Required({kind}, Closed({{kind, Numbers(2)}, {"step", step}, {"when", ExpressionText()}})));
  }
  any.push_back(Required({"choice"}, Closed({{"choice", Choices()}, {"when", ExpressionText()}})));
  return AnyOf(std::move(any));
}

json SearchSchema() {
  const json pruners = Enum({"none", "median", "asha", "hyperband"});
  const json pruner = Required({"type"}, Closed({{"type", pruners},
                                                 {"min_resource", Count(1)},
                                                 {"max_resource", Count(1)},
                                                 {"reduction", Count(2)},
                                                 {"startup_trials", Count(0)},
                                                 {"warmup_steps", Count(0)}}));
  const json objective =
      Required({"metric"}, Closed({{"metric", Type("string")}, {"direction", Enum({"maximize", "minimize"})}}));
  return Required({"trials", "space", "objective"}, Closed({{"method", Enum({"tpe", "gp", "cmaes", "qmc", "random"})},
                                                            {"trials", Count(1)},
                                                            {"seed", Count(0)},
                                                            {"space", NotEmpty(PathsTo(DistributionSchema()))},
                                                            {"objective", objective},
                                                            {"pruner", Either(pruners, pruner)},
                                                            {"confirm", Closed({{"top", Count(1)}, {"seeds", Count(1)}})}}));
}

json Zip() { return MapTo(NotEmpty(Keys(PathOrName(), MapTo(ValuesSchema())))); }

json Points() { return AtLeast(1, List(Keys(PathNameOrWhy(), MapTo(json::object())))); }

json StagesSchema() {
  json names = With(AnyOf({Const("name"), Pattern(PathPattern())}), "not",
                    Enum({"learner", "learner.plugin", "learner.command", "learner.function"}));
  return AtLeast(1, OrNull(List(Required({"name"}, Keys(std::move(names), MapTo(json::object()))))));
}

json CompareSchema() {
  const json arm = Required({"name"}, Keys(AnyOf({PathNameOrWhy(), Const("task")}), MapTo(json::object())));
  const json task = Required({"name", "reference"}, Keys(AnyOf({PathOrName(), Const("reference")}), MapTo(json::object())));
  return OrNull(Required({"arms"}, Closed({{"arms", AtLeast(2, List(arm))},
                                           {"tasks", AtLeast(2, List(task))},
                                           {"metric", Type("string")},
                                           {"direction", Enum({"up", "down"})},
                                           {"margin", SchemaOf({ValueType::kPercent, ""})},
                                           {"looks", Closed({{"n", Count(1)}, {"max", Count(1)}})},
                                           {"alpha", Type("number")}})));
}

json SweepSchema() {
  const json texts = List(Type("string"));
  return OrNull(Closed(
      {{"grid", PathsTo(ValuesSchema())},
       {"zip", Zip()},
       {"list", Points()},
       {"files", AtLeast(1, texts)},
       {"random", Required({"trials", "space"},
                           Closed({{"trials", Count(1)}, {"seed", Count(0)}, {"space", PathsTo(DistributionSchema())}}))},
       {"search", SearchSchema()},
       {"derive", Keys(Pattern(PathPattern()), MapTo(ExpressionText()))},
       {"where", AnyOf({ExpressionText(), List(ExpressionText())})},
       {"seeds",
        AnyOf({Closed({{"n", Count(1)}, {"first", Count(0)}, {"paired", Type("boolean")}}), AtLeast(1, List(Count(0)))})},
       {"memory_axes", texts}}));
}

// {"env": {"plugin": "name"}}, as a condition.
json Names(const std::string& section, json name, const char* key = "plugin") {
  return Has(section, Has(key, std::move(name)));
}

// An object of the file, before it is written as a schema.
struct Section {
  json types = {"object", "null"};
  json instead = {};  // null: nothing
  std::map<std::string, json> keys = {};
  std::map<std::string, Section> sections = {};
  std::vector<json> rules = {};  // on several keys together

  Section& Below(const std::string& path) {
    const size_t dot = path.find('.');
    Section& section = sections[path.substr(0, dot)];
    return dot == std::string::npos ? section : section.Below(path.substr(dot + 1));
  }
  void Place(const std::string& path, json value) {
    const size_t dot = path.rfind('.');
    Section& section = dot == std::string::npos ? *this : Below(path.substr(0, dot));
    section.keys[path.substr(dot + 1)] = std::move(value);
  }
  json Write() const {
    json properties = keys;
    for (const auto& [name, section] : sections) properties[name] = section.Write();
    json schema = With(Closed(std::move(properties)), "type", types);
    for (const json& rule : rules) AddRule(rule, &schema);
    return instead.is_null() ? schema : Either(std::move(schema), instead);
  }
};

class SchemaWriter {
 public:
  explicit SchemaWriter(const std::vector<const PluginInfo*>& plugins) : plugins_(plugins) {}

  json Write() {
    Section file{.types = "object"};
    for (const HostKey& key : HostKeys()) {
      file.Place(key.path, KeySchema(key));
      if (key.type == ValueType::kStages)
        file.Place(kOlderNameOfStages, With(KeySchema(key), "$comment", "an older name of stages"));
    }
    PlaceAliases(&file);
    Section &env = file.Below("env"), &learner = file.Below("learner");
    for (Section* section : {&env, &learner}) section->types.push_back("string");  // its plugin
    file.Below("checkpoint.best").types.push_back("string");                       // its metric
    file.Below("rollout").instead = Const("auto");
    learner.rules.push_back(CommandRule());
    for (const PluginInfo* info : OfKind(BP_KIND_LEARNER)) learner.rules.push_back(OptionsRule(*info));
    json without_budget = json::array();
    for (const ReportKind& kind : kReportKinds) {
      if (kind.measures_speed) without_budget.push_back(kind.name);
      file.rules.push_back(KindRule(kind));
    }
    // A base file, the sweep, the arms or the stages may set the values below.
    const json is_command = AnyOf({Names("learner", Type("array"), "command"), Names("learner", Type("string"), "function")});
    json with_plugins = Required({"env", "learner"});
    with_plugins.update(Properties(
        {{"env", Has("plugin", Type("string"))}, {"learner", Has("plugin", Type("string"))}, {"budget", NotEmpty()}}));
    with_plugins.update(AnyOf({Required({"budget"}), Names("report", Enum(std::move(without_budget)), "kind")}));
    json complete = AnyOf({is_command, std::move(with_plugins)});
    file.rules.push_back(If(
        is_command,
        Properties({{"budget", Properties({{"epochs", Type("null")}, {"episodes", Type("null")}, {"until", Type("null")}})}})));
    std::vector<json> not_alone;
    for (const char* key : {"base", "sweep", "compare", "stages", kOlderNameOfStages}) not_alone.push_back(Required({key}));
    for (const HostKey& key : HostKeys()) {  // another name may stand for the section
      for (const std::string& name : OtherNames(key))
        if (!FindHostKey(name) && file.keys.contains(name)) not_alone.push_back(Required({name.c_str()}));
    }
    file.rules.push_back(With(If(AnyOf(std::move(not_alone)), json::object()), "else", std::move(complete)));
    for (const PluginInfo* info : OfKind(BP_KIND_ENV)) file.rules.push_back(EvaluationRule(*info));
    return With(With(file.Write(), "$schema", "http://json-schema.org/draft-07/schema#"), "title", "Backplane experiment");
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

  // A command is not a plugin; without one, its keys are not restricted.
  static json CommandRule() {
    json without = json::object();
    for (const HostKey& key : HostKeys())
      if (key.of_command) without[key.path.substr(key.path.find('.') + 1)] = Type("null");
    return With(
        If(AnyOf({Has("command", Type("array")), Has("function", Type("string"))}), Properties({{"plugin", Type("null")}})),
        "else", Properties(std::move(without)));
  }

  // Other names of the very same, at the top and in the key's section.
  void PlaceAliases(Section* file) {
    for (const HostKey& key : HostKeys()) {
      const std::string section = key.path.substr(0, key.path.rfind('.') + 1);
      for (const std::string& name : OtherNames(key)) {
        const json value = With(KeySchema(key), "$comment", "another name of " + key.path);
        if (FindHostKeyByAlias(name) != &key) continue;
        if (!FindHostKey(name)) file->Place(name, value);
        if (!FindHostKey(section + name)) file->Place(section + name, value);
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
      case ValueType::kWrappers: schema = Wrappers(); break;
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
          // A host key under the option's name accepts the key's values: 4GiB as well as 4096 of the option's unit.
          properties[option.path] = Either(std::move(properties[option.path]), SchemaOf(key->rule()));
        } else if (alias.ends_with(']')) {
          properties[alias.substr(0, alias.find('['))] = With(Type("array"), "$comment", "each entry is a separate option");
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

  // A name, {NAME: value or options}, or {plugin, options}.
  json Wrappers() const {
    json names = json::array(), by_name = json::object();
    for (const PluginInfo* info : OfKind(BP_KIND_ENV)) {
      if ((info->flags & BP_FLAG_WRAPPER) == 0) continue;
      names.push_back(info->short_id());
      by_name[info->short_id()] = json::object();
    }
    by_name.emplace("plugin", Type("string"));
    by_name.emplace("options", OrNull(Type("object")));
    return List(Either(Either(Enum(std::move(names)), Text("/|\\.so$")), Closed(std::move(by_name))));
  }

  const std::vector<const PluginInfo*>& plugins_;
};

}  // namespace

nlohmann::json JsonSchema(const std::vector<const PluginInfo*>& plugins) { return SchemaWriter(plugins).Write(); }

}  // namespace backplane
