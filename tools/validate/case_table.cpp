#include "validate/case_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace backplane {

using Cases = std::vector<Case>;

// Add a new case to the file of its kind.
#define CASES(of)                                                                                                      \
  of(File) of(Option) of(Life) of(EnvWrite) of(EnvRow) of(EnvEpisode) of(EnvExtension) of(Learner) of(Part) of(Memory) \
      of(DataLearner) of(Monitor)

#define DECLARED(name) Cases name##Cases();
CASES(DECLARED)

namespace {

std::optional<FastCost> CostOf(std::string_view name) {
  const auto* const found = std::ranges::find(kFastRules, name, &FastRule::name);
  return found == std::end(kFastRules) ? std::nullopt : std::optional(found->cost);
}

}  // namespace

const std::vector<Case>& AllCases() {
  static const auto* const all = [] {
    auto* cases = new Cases;
#define LISTED(name) name##Cases,
    for (const auto& some : {CASES(LISTED)})
      for (const Case& one : some()) cases->push_back(one), cases->back().fast = CostOf(one.name);
    return cases;
  }();
  return *all;
}

const Case* FindCase(const std::string& name) {
  const auto found = std::ranges::find_if(AllCases(), [&](const Case& one) { return name == one.name; });
  return found == AllCases().end() ? nullptr : &*found;
}

std::optional<PluginCall> StuckIn(const Case& one, CallSet stuck) {
  const CallSet both = one.calls & stuck;
  return both.empty() ? std::nullopt : std::optional(both.First());
}

std::string CasesMarkdown() {
  std::string text;
  const auto add = [&](const char* title, uint32_t kinds) {
    text += fmt::format("## {}\n\n| case | rule | fast |\n|---|---|---|\n", title);
    for (const Case& one : AllCases())
      if (one.kinds == kinds) text += fmt::format("| `{}` | {} | {} |\n", one.name, one.rule, one.fast ? "yes" : "");
    text += "\n";
  };
  add("All plugins", kOfAll);
  add("Envs", kOfEnvs);
  add("Learners", kOfLearners);
  add("Monitors", kOfMonitors);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace backplane
