#include "config/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "base/suggest.hpp"
#include "contract/value.hpp"
#include "plugin/exports.hpp"
#include "plugin/plugin_error.hpp"
#include "record/finding_ids.hpp"

namespace backplane {
namespace {

bool IsOfNumbers(uint16_t type) {
  return type == BP_PARAM_F64 || type == BP_PARAM_I64 || type == BP_PARAM_F64_LIST || type == BP_PARAM_I64_LIST;
}

// Nothing on one side of the comma: no bound.
std::optional<double> Bound(const std::string& text, double without) {
  if (text.empty()) return without;
  char* stop = nullptr;
  const double value = std::strtod(text.c_str(), &stop);
  return *stop == '\0' ? std::optional(value) : std::nullopt;
}

// The part of a range that the reader of values cannot use; absent: the part is a word, or an interval.
std::optional<std::string> WhatIsWrong(const std::string& part) {
  if (part.empty()) return "an empty part";
  if (std::isalpha(static_cast<unsigned char>(part.front()))) return std::nullopt;
  const bool opens = part.front() == '(' || part.front() == '[', closes = part.back() == ')' || part.back() == ']';
  const size_t comma = part.find(',');
  if (!opens || !closes || comma == std::string::npos) return "'" + part + "'";
  const auto low = Bound(part.substr(1, comma - 1), -INFINITY);
  const auto high = Bound(part.substr(comma + 1, part.size() - comma - 2), INFINITY);
  if (!low || !high) return "'" + part + "'";
  if (!(*low <= *high)) return "'" + part + "', whose low end is above its high end";
  return std::nullopt;
}

std::optional<std::string> WhatIsWrong(const std::string& range, uint16_t type) {
  if (range.empty()) return std::nullopt;  // any
  for (size_t begin = 0; begin <= range.size();) {
    const size_t end = std::min(range.find('|', begin), range.size());
    const std::string part = range.substr(begin, end - begin);
    begin = end + 1;
    if (!IsOfNumbers(type)) {
      if (part.empty()) return "an empty word";
    } else if (auto wrong = WhatIsWrong(part)) {
      return wrong;
    }
  }
  return std::nullopt;
}

// Values with which a learner reads its budget are values that the option accepts.
std::optional<DeclarationError> WrongReadsBudget(const OptionInfo& option) {
  const std::string &values = option.reads_budget, place = "option '" + option.path + "', reads_budget";
  if (values.empty() || values == "*") return std::nullopt;
  if (const auto wrong = WhatIsWrong(values, option.type)) return DeclarationError{place, "values, or *", *wrong, ""};
  if (option.type != BP_PARAM_ENUM) return std::nullopt;
  std::istringstream words(values);
  for (std::string word; std::getline(words, word, '|');)
    if (!IsRangeWord(option.range.value_or(""), word))
      return DeclarationError{place, "a word of " + option.range.value_or(""), "'" + word + "'", ""};
  return std::nullopt;
}

}  // namespace

std::optional<DeclarationError> WrongId(const PluginInfo& info) {
  const std::string prefix = std::string(KindName(info.kind)) + ".";
  if (info.id.starts_with(prefix) && info.id.size() > prefix.size()) return std::nullopt;
  return DeclarationError{"the id", fmt::format("'{}NAME'", prefix), "'" + info.id + "'",
                          fmt::format("Call it '{}{}'.", prefix, info.short_id())};
}

std::optional<DeclarationError> WrongRange(const OptionInfo& option) {
  const std::string place = "option '" + option.path + "'";
  if (option.type < BP_PARAM_F64 || option.type > BP_PARAM_ANY)
    return DeclarationError{place, "a type BP_PARAM_*", fmt::format("{}", option.type), ""};
  if (const auto wrong = WhatIsWrong(option.range.value_or(""), option.type))
    return DeclarationError{place + ", its range",
                            IsOfNumbers(option.type) ? "a range such as (0,1], [1,) or auto|[1,)" : "words such as a|b", *wrong,
                            ""};
  return WrongReadsBudget(option);
}

namespace {

// An experiment cannot use a wrong id, nor a range that no value fits.
void CheckDeclaration(const PluginInfo& info) {
  const auto refuse = [&](const DeclarationError& wrong) {
    const std::string mend = wrong.mend.empty() ? "" : ". " + wrong.mend;
    throw PluginError(fmt::format("{}: {}: expected {}, got {}{}", info.id, wrong.place, wrong.wanted, wrong.found, mend));
  };
  if (info.kind != BP_KIND_PART)
    if (const auto wrong = WrongId(info)) refuse(*wrong);
  for (const OptionInfo& option : info.options)
    if (const auto wrong = WrongRange(option)) refuse(*wrong);
}

// With a default outside its own type or range, the plugin fails wherever the option is not given.
void CheckDefaults(const PluginInfo& info) {
  for (const OptionInfo& option : info.options) {
    if (!option.def) continue;
    std::string why_not;
    const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
    if (!ReadDefault(*option.def, rule, &why_not)) {
      throw PluginError(fmt::format("{}: option '{}': {}", info.id, option.path, why_not));
    }
  }
}

// An option that helps against what no report finds would never be proposed.
void CheckHelps(const PluginInfo& info) {
  for (const OptionInfo& option : info.options) {
    for (std::string id : option.helps) {
      if (id.ends_with('-') || id.ends_with('+')) id.pop_back();
      if (IsFindingId(id)) continue;
      const std::vector<std::string> known(std::begin(kFindingIds), std::end(kFindingIds));
      throw PluginError(fmt::format("{}: option '{}' names the unknown finding '{}' in `helps`{}", info.id, option.path, id,
                                    DidYouMean(Nearest(id, Candidates(known)))));
    }
  }
}

}  // namespace

void CheckBeforeSeal(const PluginInfo& info) {
  if (const std::string surplus = SurplusExportsText(info.file); !surplus.empty()) throw PluginError(surplus);
  CheckDeclaration(info);
  CheckDefaults(info);
  CheckHelps(info);
}

}  // namespace backplane
