// A value of one type: parses the whole text and checks its range. Errors contain the expected and the found value.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "backplane/module.h"
#include "yaml/document.hpp"

namespace backplane {

class Errors;

enum class ValueType {
  kNumber = BP_PARAM_F64,
  kInteger = BP_PARAM_I64,
  kFlag = BP_PARAM_BOOL,
  kText = BP_PARAM_STR,
  kEnum = BP_PARAM_ENUM,
  kPath = BP_PARAM_PATH,
  kNumberList = BP_PARAM_F64_LIST,
  kIntegerList = BP_PARAM_I64_LIST,
  kStructure = BP_PARAM_ANY,  // a mapping or a list, by its range
  // Below: types of the host's own keys only.
  kSeed = 100,   // any 64 bits without a sign
  kDuration,     // JSON: text such as "1800s"
  kSize,         // JSON: text such as "16GiB"
  kPercent,      // JSON: text such as "5%"
  kSizeOrShare,  // JSON: text such as "16GiB" or "95%"
  kName,         // text that can be a folder's name
  kPathList,
  kTextList,
  kMeasureList,  // names of measures, each once, at most kMaxLive
  kScalar,       // a number, a flag or text, unchanged
  kWords,        // of a command: a non-empty list of words, each with its placeholders (placeholders.hpp); JSON: texts
  kPatterns,     // a mapping of measures to patterns (line_pattern.hpp)
  kPluginName,
  kPluginOptions,
  kMonitors,
  kWrappers,
  kFailurePolicy,  // the range lists the words; JSON: a word or {"retry": N}
  kFlapping,       // JSON: "3 in 60s", or 0
  kGoal,           // a metric with its value (record/goal.hpp)
  kJson,           // any value
  kBase,           // read before everything else
  kSweep,          // read by the module sweep
  kStages,         // the same
  kCompare,        // the same
};

// "(0,1]", "[1,)", "a|b", and for numbers also words next to intervals: "auto|[1,)". Empty: anything.
struct ValueRule {
  ValueType type;
  std::string range;
};

bool InRange(const std::string& range, double value);
bool IsRangeWord(const std::string& range, const std::string& text);

// The value as in a saved configuration; absent after an error. `name` is its path.
std::optional<nlohmann::json> ReadValue(const Node& node, const ValueRule& rule, const std::string& name, Errors* errors);

// The value of a default written as YAML text. Absent, with a sentence in `why_not`, if the default does not fit its own rule.
std::optional<nlohmann::json> ReadDefault(const std::string& text, const ValueRule& rule, std::string* why_not);

// Accepts letters, digits, '_', '-' and '.', but not "." and "..".
bool IsNameText(std::string_view text);

// "a list", "nothing", "'abc'": the found value in an error.
std::string Describe(const Node& node);

// A relative path starts at the folder of its file.
std::string AbsolutePath(const std::string& path, const Mark& mark);

}  // namespace backplane
