#include "sweep/value_schema.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "config/unknown_keys.hpp"
#include "contract/experiment.hpp"
#include "sweep/schema_terms.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using namespace schema;

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

// Numbers in any of the intervals, or one of the words next to them.
json Ranged(const json& plain, const std::string& range) {
  std::optional<json> schema;
  json words = json::array();
  const auto add = [&](json other) { schema = schema ? Either(*schema, std::move(other)) : std::move(other); };
  for (const std::string& word : Words(range)) {
    if (IsInterval(word)) {
      add(Bounded(plain, word));
    } else {
      words.push_back(word);
    }
  }
  if (!schema) schema = plain;
  if (!words.empty()) add(Enum(words));
  return *schema;
}

json FailurePolicySchema(const std::string& range) {
  json words = json::array();
  for (const std::string& word : Words(range)) {
    if (word != "retry") words.push_back(word);
  }
  return Either(Enum(words), Required({"retry"}, Closed({{"retry", Count(1)}})));
}

json EnumSchema(const std::string& range) {
  json words = Words(range);
  for (const bool value : {true, false})  // in YAML the bare word is a boolean
    if (std::find(words.begin(), words.end(), value ? "true" : "false") != words.end()) words.push_back(value);
  return Enum(words);
}

// The schema of lists and mappings; nullopt for the other types.
std::optional<json> StructuredSchema(const ValueRule& rule) {
  switch (rule.type) {
    case ValueType::kNumberList: return List(Ranged(Type("number"), rule.range));
    case ValueType::kIntegerList: return List(Ranged(Type("integer"), rule.range));
    case ValueType::kTextList:
    case ValueType::kPathList: return List(Type("string"));
    case ValueType::kMeasureList:
      return With(AtMost(kMaxLive, List(With(With(Type("string"), "minLength", 1), "maxLength", kMaxLiveName))), "uniqueItems",
                  true);
    case ValueType::kWords: return AtLeast(1, List(SchemaOf({ValueType::kScalar, ""})));
    case ValueType::kPatterns: return MapTo(Type("string"));
    case ValueType::kGoal:
      return NotEmpty(
          With(MapTo(Type("number")), "properties", {{"for", Count(1)}, {"direction", Enum({"maximize", "minimize"})}}));
    case ValueType::kStructure:
      return rule.range == "mapping" ? Type("object")
             : rule.range == "list"  ? Type("array")
             : rule.range == "paths" ? List(Type("string"))
                                     : Either(Type("object"), Type("array"));
    default: return std::nullopt;
  }
}

}  // namespace

nlohmann::json SchemaOf(const ValueRule& rule) {
  switch (rule.type) {
    case ValueType::kNumber: return Ranged(Type("number"), rule.range);
    case ValueType::kInteger:
    case ValueType::kSeed: return Ranged(Type("integer"), rule.range);
    case ValueType::kFlag: return Ranged(Type("boolean"), rule.range);
    case ValueType::kEnum: return EnumSchema(rule.range);
    case ValueType::kDuration: return Text(kDuration);
    case ValueType::kSize: return Text(kSize);
    case ValueType::kPercent: return Text(kPercent);
    case ValueType::kSizeOrShare: return Either(Text(kSize), Text(kPercent));
    case ValueType::kName: return Text(kName);
    case ValueType::kFlapping: return Either(Const(0), Text(kFlapping));
    case ValueType::kFailurePolicy: return FailurePolicySchema(rule.range);
    case ValueType::kScalar: return Only("type", {"string", "number", "boolean"});
    case ValueType::kJson: return json::object();
    default: return StructuredSchema(rule).value_or(Type("string"));
  }
}

nlohmann::json Described(nlohmann::json schema, const std::string& doc, const ValueRule& rule, const char* def) {
  schema["description"] = doc;
  std::string why_not;
  if (const auto value = def ? ReadDefault(def, rule, &why_not) : std::nullopt) schema["default"] = *value;
  return schema;
}

}  // namespace backplane
