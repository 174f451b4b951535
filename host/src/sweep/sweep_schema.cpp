#include "sweep/sweep_schema.hpp"

#include <set>

#include "config/schema.hpp"
#include "sweep/grammar.hpp"
#include "sweep/value_schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

json Count(int least) { return {{"type", "integer"}, {"minimum", least}}; }

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
const char* const kPathInStage = R"(^stages\..+\..+$)";

json PathName() { return {{"anyOf", {{{"pattern", PathPattern()}}, {{"pattern", kPathInStage}}}}}; }
json PathOrName() { return {{"anyOf", {{{"const", "name"}}, PathName()}}}; }

json PathsTo(json value) {
  return {{"type", "object"}, {"propertyNames", PathName()}, {"additionalProperties", std::move(value)}};
}

json ExpressionText() { return {{"type", {"string", "number", "boolean"}}}; }

json ValuesSchema() {
  const json list = {{"type", "array"}, {"minItems", 1}};
  json range = Closed({{"range", {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}}},
                       {"when", ExpressionText()}});
  range["required"] = {"range"};
  json values = Closed({{"values", list}, {"when", ExpressionText()}});
  values["required"] = {"values"};
  return {{"anyOf", {list, range, values}}};
}

json DistributionSchema() {
  const json bounds = {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  json any = json::array();
  for (const char* kind : {"uniform", "log_uniform", "int", "log_int"}) {
    json one = Closed({{kind, bounds}, {"step", {{"type", "number"}, {"exclusiveMinimum", 0}}}, {"when", ExpressionText()}});
    one["required"] = {kind};
    any.push_back(std::move(one));
  }
  json choice = Closed({{"choice", {{"type", "array"}, {"minItems", 1}}}, {"when", ExpressionText()}});
  choice["required"] = {"choice"};
  any.push_back(std::move(choice));
  json schema = json::object();
  schema["anyOf"] = std::move(any);
  return schema;
}

json Zip() {
  json paths = PathsTo(ValuesSchema());
  paths["propertyNames"] = PathOrName();
  paths["minProperties"] = 1;
  return {{"type", "object"}, {"additionalProperties", std::move(paths)}};
}

json DerivedPaths() {
  json paths = PathsTo(ExpressionText());
  paths["propertyNames"] = {{"pattern", PathPattern()}};
  return paths;
}

json List() {
  json point = PathsTo(json::object());
  point["propertyNames"] = PathOrName();
  return {{"type", "array"}, {"items", std::move(point)}, {"minItems", 1}};
}

}  // namespace

json StagesSchema() {
  json stage = PathsTo(json::object());
  stage["propertyNames"] = {{"anyOf", {{{"const", "name"}}, {{"pattern", PathPattern()}}}},
                            {"not", {{"enum", {"learner", "learner.plugin"}}}}};
  stage["required"] = {"name"};
  return {{"type", {"array", "null"}}, {"items", std::move(stage)}, {"minItems", 1}};
}

json SweepSchema() {
  json random = Closed({{"trials", Count(1)}, {"seed", Count(0)}, {"space", PathsTo(DistributionSchema())}});
  random["required"] = {"trials", "space"};
  const json texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  json files = texts;
  files["minItems"] = 1;
  json sweep = Closed({{"grid", PathsTo(ValuesSchema())},
                       {"zip", Zip()},
                       {"list", List()},
                       {"files", std::move(files)},
                       {"random", std::move(random)},
                       {"derive", DerivedPaths()},
                       {"where", {{"anyOf", {ExpressionText(), {{"type", "array"}, {"items", ExpressionText()}}}}}},
                       {"seeds", Closed({{"n", Count(1)}, {"first", Count(0)}, {"paired", {{"type", "boolean"}}}})},
                       {"memory_axes", texts}});
  sweep["type"] = {"object", "null"};
  return sweep;
}

}  // namespace backplane
