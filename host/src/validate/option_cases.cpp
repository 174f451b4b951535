// What a plugin declares: its options, their words, its names.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "backplane/rng.h"
#include "config/value.hpp"
#include "record/finding_ids.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_table.hpp"

namespace backplane {
namespace {

ValueRule RuleOf(const OptionInfo& option) { return {static_cast<ValueType>(option.type), option.range.value_or("")}; }

void NamesItself(Subject& subject, CaseResult*) {
  const PluginInfo& info = subject.info();
  const std::string prefix = std::string(KindName(info.kind)) + ".";
  if (!info.id.starts_with(prefix) || info.id.size() == prefix.size())
    FailCase("the id", fmt::format("'{}NAME', as it is one", prefix), "'" + info.id + "'",
             fmt::format("Call it '{}{}'.", prefix, info.short_id()));
  if (info.summary.empty()) WarnCase("the summary", "a sentence", "nothing");
  if (info.version.empty()) WarnCase("the version", "such as 1.0.0", "nothing");
}

void DeclaresOnce(Subject& subject, CaseResult*) {
  std::map<std::string, std::string> seen;  // name -> option that has it
  for (const OptionInfo& option : subject.info().options) {
    std::vector<std::string> names{option.path};
    names.insert(names.end(), option.aliases.begin(), option.aliases.end());
    for (const std::string& name : names) {
      const auto [at, is_new] = seen.emplace(name, option.path);
      if (!is_new)
        FailCase("option '" + option.path + "'", "a name of its own",
                 at->second == option.path && name == option.path ? fmt::format("'{}' twice", name)
                                                                  : fmt::format("'{}', which '{}' has too", name, at->second));
    }
  }
}

// What the reader of values makes of a range, told by what it does with numbers around its ends.
std::optional<std::string> WhatIsWrong(const std::string& range, uint16_t type) {
  if (range.empty()) return std::nullopt;  // any
  const bool numbers = type == BP_PARAM_F64 || type == BP_PARAM_I64 || type == BP_PARAM_F64_LIST || type == BP_PARAM_I64_LIST;
  if (!numbers)
    return range.front() == '|' || range.back() == '|' || range.find("||") != std::string::npos
               ? std::optional<std::string>("an empty word")
               : std::nullopt;
  for (size_t begin = 0; begin <= range.size();) {
    const size_t end = std::min(range.find('|', begin), range.size());
    const std::string part = range.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) return "an empty part";
    const bool opens = part.front() == '(' || part.front() == '[', closes = part.back() == ')' || part.back() == ']';
    if (std::isalpha(static_cast<unsigned char>(part.front()))) continue;  // a word
    const size_t comma = part.find(',');
    if (!opens || !closes || comma == std::string::npos) return "'" + part + "'";
    const auto bound = [&](size_t from, size_t to, double without) -> std::optional<double> {
      const std::string text = part.substr(from, to - from);
      if (text.empty()) return without;
      char* stop = nullptr;
      const double value = std::strtod(text.c_str(), &stop);
      return *stop == '\0' ? std::optional(value) : std::nullopt;
    };
    const auto low = bound(1, comma, -INFINITY), high = bound(comma + 1, part.size() - 1, INFINITY);
    if (!low || !high) return "'" + part + "'";
    if (!(*low <= *high)) return "'" + part + "', whose low end is above its high one";
  }
  return std::nullopt;
}

void RangesCanBeRead(Subject& subject, CaseResult*) {
  for (const OptionInfo& option : subject.info().options) {
    const std::string place = "option '" + option.path + "'";
    if (option.type < BP_PARAM_F64 || option.type > BP_PARAM_I64_LIST)
      FailCase(place, "a type BP_PARAM_*", fmt::format("{}", option.type));
    if (option.range)
      if (const auto wrong = WhatIsWrong(*option.range, option.type))
        FailCase(place + ", its range", "such as (0,1], [1,) or a|b", *wrong);
    if (!option.def) continue;
    std::string why_not;
    if (!ReadDefault(*option.def, RuleOf(option), &why_not))
      FailCase(place + ", its default", "a value of its own range", why_not);
  }
}

void HelpsAgainstFindings(Subject& subject, CaseResult*) {
  for (const OptionInfo& option : subject.info().options) {
    if (option.doc.empty())
      WarnCase("option '" + option.path + "'", "a sentence that says what changes and what it costs", "nothing");
    for (std::string id : option.helps) {
      if (id.ends_with('-') || id.ends_with('+')) id.pop_back();
      if (!IsFindingId(id)) FailCase("option '" + option.path + "', helps", "a finding of a report", "'" + id + "'");
    }
  }
}

void Create(Subject& subject, CaseResult*) {
  if (const OptionInfo* option = subject.MissingOption())
    SkipCase(fmt::format("option '{0}' has no default: give it with --set {0}=VALUE", option->path));
  subject.TryCreate(subject.setting().options);
}

// Values at the ends of an option's range, its words, and around its default.
std::vector<nlohmann::json> ValuesToTry(const OptionInfo& option, const nlohmann::json& now) {
  std::vector<std::string> texts;
  const std::string range = option.range.value_or("");
  switch (option.type) {
    case BP_PARAM_BOOL: texts = {"true", "false"}; break;
    case BP_PARAM_ENUM:
    case BP_PARAM_STR:
    case BP_PARAM_F64:
    case BP_PARAM_I64:
      for (size_t begin = 0; begin <= range.size() && !range.empty();) {
        const size_t end = std::min(range.find('|', begin), range.size());
        const std::string part = range.substr(begin, end - begin);
        begin = end + 1;
        if (part.find(',') == std::string::npos) {
          texts.push_back(part);
          continue;
        }
        texts.push_back(part.substr(1, part.find(',') - 1));
        texts.push_back(part.substr(part.find(',') + 1, part.size() - part.find(',') - 2));
      }
      break;
    default: break;
  }
  if (now.is_number()) {
    constexpr double kLarge = 1e6;  // beyond it a plugin may want more memory than there is
    const double value = now.get<double>();
    for (const double other : {value * 2, value / 2, value + 1})
      if (std::fabs(other) <= kLarge)
        texts.push_back(option.type == BP_PARAM_I64 ? fmt::format("{}", std::floor(other)) : fmt::format("{}", other));
    std::erase_if(texts, [](const std::string& text) {
      const double number = std::strtod(text.c_str(), nullptr);
      return std::fabs(number) > kLarge;
    });
  }
  std::vector<nlohmann::json> values;
  for (const std::string& text : texts) {
    std::string why_not;
    if (text.empty()) continue;
    if (auto value = ReadDefault(text, RuleOf(option), &why_not); value && *value != now) values.push_back(*value);
  }
  return values;
}

void OptionsInRange(Subject& subject, CaseResult* result) {
  Create(subject, result);
  struct Trial {
    const OptionInfo* option;
    nlohmann::json value;
  };
  std::vector<Trial> trials;
  for (const OptionInfo& option : subject.info().options)
    for (const nlohmann::json& value : ValuesToTry(option, subject.setting().options.at(option.path)))
      trials.push_back({&option, value});
  // Where there is no time for all, another seed tries others.
  bp_rng rng{subject.seed(), 0};
  for (uint64_t i = trials.size(); i > 1; --i) std::swap(trials[i - 1], trials[bp_rng_below(&rng, i)]);
  constexpr int64_t kForNs = 8'000'000'000;
  const int64_t begin = NowNs();
  uint64_t tried = 0, refused = 0;
  for (const auto& [option, value] : trials) {
    if (NowNs() - begin > kForNs) break;
    {
      nlohmann::json options = subject.setting().options;
      options[option->path] = value;
      const std::string place = fmt::format("create with {}: {}", option->path, value.dump());
      try {
        ++tried;
        subject.TryCreate(options);
      } catch (const TrialFailure& e) {
        const bool clean = e.status() == BP_E_CONFIG || e.status() == BP_E_UNSUPPORTED || e.status() == BP_E_INVALID_ARG ||
                           e.status() == BP_E_OOM_HOST || e.status() == BP_E_OOM_DEVICE;
        ++refused;
        const std::string what = e.what();
        if (!clean)
          FailCase(place, "an instance, or a refusal with BP_E_CONFIG", fmt::format("status {}: {}", e.status(), what));
        if (what.find("no reason given") != std::string::npos)
          FailCase(place, "a sentence by host->fail", fmt::format("status {} and none", e.status()));
      }
    }
  }
  result->note = fmt::format("{} of {} values, {} of them refused", tried, trials.size(), refused);
}

}  // namespace

std::vector<Case> OptionCases() {
  return {
      {"names-itself", kOfAll, "A plugin's id begins with its kind, and it has a version and a summary.",
       "Say it in kAbout, or in bp_descriptor.", NamesItself},
      {"options-once", kOfAll, "Every option, and every other name of one, is declared once.",
       "Give one of the two another name.", DeclaresOnce},
      {"ranges", kOfAll, "Every range can be read and has its default in it.", "Write ranges as `(0,1]`, `[1,)`, `a|b`.",
       RangesCanBeRead},
      {"helps", kOfAll, "Every option has a sentence, and helps against findings that there are.",
       "`docs/reports.md` lists the findings.", HelpsAgainstFindings},
      {"create", kOfAll, "An instance can be made with the defaults.", "Choose defaults that work anywhere.", Create},
      {"options-in-range", kOfAll,
       "Every value of an option's range makes an instance, or is refused with BP_E_CONFIG and a sentence.",
       "Narrow the range, or throw bp::ConfigError with what was wanted and found.", OptionsInRange},
  };
}

}  // namespace backplane
