#include "sweep/value_schema.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "config/experiment.hpp"
#include "config/names.hpp"
#include "config/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr const char* kDuration = R"(^([0-9]*\.?[0-9]+(d|h|ms|m|s))+$)";
constexpr const char* kSize = R"(^[0-9]*\.?[0-9]+([TGMK]iB|[TGMkK]B|B)$)";
constexpr const char* kPercent = R"(^[0-9]*\.?[0-9]+%$)";
constexpr const char* kFlapping = R"(^[1-9][0-9]* in ([0-9]*\.?[0-9]+(d|h|ms|m|s))+$)";
constexpr const char* kName = "^(?!\\.{1,2}$)[A-Za-z0-9_.-]+$";

std::vector<std::string> Words(const std::string& range) {
  std::vector<std::string> words;
  for (size_t from = 0; from <= range.size() && !range.empty();) {
    const size_t bar = std::min(range.find('|', from), range.size());
    words.push_back(range.substr(from, bar - from));
    from = bar + 1;
  }
  return words;
}

bool IsInterval(const std::string& word) { return word.find_first_of("[(") == 0 && word.find(',') != std::string::npos; }

// "(0,1]" as bounds added to a numeric schema.
json Bounded(json schema, const std::string& interval) {
  const size_t comma = interval.find(',');
  const auto low = ParseNumber(interval.substr(1, comma - 1));
  const auto high = ParseNumber(interval.substr(comma + 1, interval.size() - comma - 2));
  if (low) schema[interval.front() == '[' ? "minimum" : "exclusiveMinimum"] = *low;
  if (high) schema[interval.back() == ']' ? "maximum" : "exclusiveMaximum"] = *high;
  return schema;
}

// Numbers in any of the intervals, or one of the words beside them.
json Ranged(const json& plain, const std::string& range) {
  std::optional<json> schema;
  json words = json::array();
  const auto add = [&](json other) { schema = schema ? AnyOf(*schema, std::move(other)) : std::move(other); };
  for (const std::string& word : Words(range)) {
    if (IsInterval(word)) {
      add(Bounded(plain, word));
    } else {
      words.push_back(word);
    }
  }
  if (!schema) schema = plain;
  if (!words.empty()) add({{"enum", words}});
  return *schema;
}

json ListOf(json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

json Pattern(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }

json FailurePolicySchema(const std::string& range) {
  json words = json::array();
  for (const std::string& word : Words(range)) {
    if (word != "retry") words.push_back(word);
  }
  const json retry = {{"type", "object"},
                      {"properties", {{"retry", {{"type", "integer"}, {"minimum", 1}}}}},
                      {"required", {"retry"}},
                      {"additionalProperties", false}};
  return AnyOf({{"enum", words}}, retry);
}

}  // namespace

json Closed(json properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

json AnyOf(json a, json b) {
  json any = json::array();
  for (json* part : {&a, &b}) {
    if (part->size() == 1 && part->contains("anyOf")) {
      for (json& item : (*part)["anyOf"]) any.push_back(std::move(item));
    } else {
      any.push_back(std::move(*part));
    }
  }
  json schema = json::object();
  schema["anyOf"] = std::move(any);
  return schema;
}

json SchemaOf(const ValueRule& rule) {
  const auto type = [](const char* name) { return json{{"type", name}}; };
  switch (rule.type) {
    case ValueType::kNumber: return Ranged(type("number"), rule.range);
    case ValueType::kInteger:
    case ValueType::kSeed: return Ranged(type("integer"), rule.range);
    case ValueType::kFlag: return Ranged(type("boolean"), rule.range);
    case ValueType::kEnum: {
      json words = Words(rule.range);
      for (const bool value : {true, false})  // in YAML the bare word is a boolean
        if (std::find(words.begin(), words.end(), value ? "true" : "false") != words.end()) words.push_back(value);
      return {{"enum", words}};
    }
    case ValueType::kNumberList: return ListOf(Ranged(type("number"), rule.range));
    case ValueType::kIntegerList: return ListOf(Ranged(type("integer"), rule.range));
    case ValueType::kPathList: return ListOf(type("string"));
    case ValueType::kMeasureList:
      return {{"type", "array"},
              {"items", {{"type", "string"}, {"minLength", 1}, {"maxLength", kMaxLiveName}}},
              {"maxItems", kMaxLive},
              {"uniqueItems", true}};
    case ValueType::kDuration: return Pattern(kDuration);
    case ValueType::kSize: return Pattern(kSize);
    case ValueType::kPercent: return Pattern(kPercent);
    case ValueType::kName: return Pattern(kName);
    case ValueType::kFlapping: return AnyOf({{"const", 0}}, Pattern(kFlapping));
    case ValueType::kFailurePolicy: return FailurePolicySchema(rule.range);
    case ValueType::kJson: return json::object();
    default: return type("string");
  }
}

json Described(json schema, const std::string& doc, const ValueRule& rule, const char* def) {
  schema["description"] = doc;
  std::string why_not;
  if (const auto value = def ? ReadDefault(def, rule, &why_not) : std::nullopt) schema["default"] = *value;
  return schema;
}

}  // namespace backplane
