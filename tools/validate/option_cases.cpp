// Cases of a plugin's declarations: options, texts, names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "backplane/rng.h"
#include "config/declaration.hpp"
#include "contract/value.hpp"
#include "record/finding_ids.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_table.hpp"

namespace backplane {
namespace {

ValueRule RuleOf(const OptionInfo& option) { return {static_cast<ValueType>(option.type), option.range.value_or("")}; }

void NamesItself(Subject& subject, CaseResult*) {
  const PluginInfo& info = subject.info();
  if (const auto wrong = WrongId(info)) FailCase(wrong->place, wrong->wanted, wrong->found, wrong->mend);
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
        FailCase("option '" + option.path + "'", "a unique name",
                 at->second == option.path && name == option.path ? fmt::format("'{}' twice", name)
                                                                  : fmt::format("'{}', which '{}' also has", name, at->second));
    }
  }
}

void RangesCanBeRead(Subject& subject, CaseResult*) {
  for (const OptionInfo& option : subject.info().options) {
    if (const auto wrong = WrongRange(option)) FailCase(wrong->place, wrong->wanted, wrong->found, wrong->mend);
    if (!option.def) continue;
    std::string why_not;
    if (!ReadDefault(*option.def, RuleOf(option), &why_not))
      FailCase("option '" + option.path + "', its default", "a value within its range", why_not);
  }
}

void HelpsAgainstFindings(Subject& subject, CaseResult*) {
  for (const OptionInfo& option : subject.info().options) {
    if (option.doc.empty()) WarnCase("option '" + option.path + "'", "a description with the effect and its cost", "none");
    for (std::string id : option.helps) {
      if (id.ends_with('-') || id.ends_with('+')) id.pop_back();
      if (!IsFindingId(id)) FailCase("option '" + option.path + "', helps", "a finding of a report", "'" + id + "'");
    }
  }
}

void Create(Subject& subject, CaseResult*) {
  if (const OptionInfo* option = subject.MissingOption())
    SkipCase(fmt::format("option '{0}' has no default; use --set {0}=VALUE", option->path));
  try {
    subject.TryCreate(subject.setting().options);
  } catch (const CaseEnd&) {
    if (subject.why_no_env().empty()) throw;
    FailCase("create", "an env in which the learner can learn", subject.why_no_env(),
             "Name its env with --env ENV, or accept one of the spaces that the errors name.");
  }
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
    constexpr double kLarge = 1e6;  // beyond it a plugin may need more memory than available
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
  // If time does not suffice for all, the seed chooses.
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
        if (!clean) FailCase(place, "an instance, or the status BP_E_CONFIG", fmt::format("status {}: {}", e.status(), what));
        if (!e.explained()) FailCase(place, "an error text by host->fail", fmt::format("status {} without text", e.status()));
      }
    }
  }
  result->note = fmt::format("{} of {} values, {} of them rejected", tried, trials.size(), refused);
}

}  // namespace

std::vector<Case> OptionCases() {
  return {
      {"names-itself", kOfAll, "A plugin's id begins with its kind, and it has a version and a summary.",
       "Set them in kAbout or in bp_descriptor.", NamesItself, CallSet{}},
      {"options-once", kOfAll, "Every name of an option is declared once.", "Rename one of the two.", DeclaresOnce, CallSet{}},
      {"ranges", kOfAll, "Every range is valid and contains its default.", "Write ranges as `(0,1]`, `[1,)`, `a|b`.",
       RangesCanBeRead, CallSet{}},
      {"helps", kOfAll, "Every option has a description, and the findings in its `helps` exist.",
       "`docs/reports.md` lists the findings.", HelpsAgainstFindings, CallSet{}},
      {"create", kOfAll, "The defaults create an instance.", "Choose defaults that work everywhere.", Create, kMakes},
      {"options-in-range", kOfAll,
       "Every value of an option's range creates an instance, or is rejected with BP_E_CONFIG and a text.",
       "Narrow the range, or throw bp::ConfigError with the expected and the given value.", OptionsInRange, kMakes},
  };
}

}  // namespace backplane
