#include "sweep/sweep_schema.hpp"

#include <set>

#include "contract/schema.hpp"
#include "sweep/grammar.hpp"
#include "sweep/schema_terms.hpp"
#include "sweep/value_schema.hpp"

namespace backplane {
namespace {

using namespace schema;

// A key that can be swept: the host's own sections, and what stands inside them.
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

json PathsTo(json value) { return Keys(PathName(), MapTo(std::move(value))); }

json ExpressionText() { return Only("type", {"string", "number", "boolean"}); }

json Choices() { return AtLeast(1, Type("array")); }

json Numbers(int n) { return AtLeast(n, AtMost(n, List(Type("number")))); }

json ValuesSchema() {
  return AnyOf({Choices(), Required({"range"}, Closed({{"range", Numbers(3)}, {"when", ExpressionText()}})),
                Required({"values"}, Closed({{"values", Choices()}, {"when", ExpressionText()}}))});
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

json Points() { return AtLeast(1, List(Keys(PathOrName(), MapTo(json::object())))); }

}  // namespace

nlohmann::json StagesSchema() {
  json names =
      With(AnyOf({Const("name"), Pattern(PathPattern())}), "not", Enum({"learner", "learner.plugin", "learner.command"}));
  return AtLeast(1, OrNull(List(Required({"name"}, Keys(std::move(names), MapTo(json::object()))))));
}

nlohmann::json CompareSchema() {
  const json arm = Required({"name"}, Keys(AnyOf({PathOrName(), Const("task")}), MapTo(json::object())));
  const json task = Required({"name", "reference"}, Keys(AnyOf({PathOrName(), Const("reference")}), MapTo(json::object())));
  return OrNull(Required({"arms"}, Closed({{"arms", AtLeast(2, List(arm))},
                                           {"tasks", AtLeast(2, List(task))},
                                           {"metric", Type("string")},
                                           {"direction", Enum({"up", "down"})},
                                           {"margin", SchemaOf({ValueType::kPercent, ""})},
                                           {"looks", Closed({{"n", Count(1)}, {"max", Count(1)}})},
                                           {"alpha", Type("number")}})));
}

nlohmann::json SweepSchema() {
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
       {"seeds", Closed({{"n", Count(1)}, {"first", Count(0)}, {"paired", Type("boolean")}})},
       {"memory_axes", texts}}));
}

}  // namespace backplane
