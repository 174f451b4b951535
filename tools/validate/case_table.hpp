// The cases of `backplane plugin validate`: each tests a rule of the plugin contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/base.h"
#include "plugin/fast_rules.hpp"
#include "validate/plugin_call.hpp"
#include "validate/subject.hpp"
#include "validate/verdict.hpp"

namespace backplane {

inline constexpr uint32_t kOfEnvs = 1 << BP_KIND_ENV, kOfLearners = 1 << BP_KIND_LEARNER, kOfMonitors = 1 << BP_KIND_MONITOR,
                          kOfAll = kOfEnvs | kOfLearners | kOfMonitors;

// If a case of kBasic fails, results of two runs may differ for this reason, so failures of kCompares are not listed.
enum class Evidence { kBasic, kCompares, kOwn };

struct Case {
  const char* name;  // in kebab case; stable, because people use it
  uint32_t kinds;
  const char* rule;  // a sentence
  const char* mend;  // fix for a broken rule
  // Returns if the plugin keeps the rule; otherwise throws CaseEnd, or the exception of a plugin call. `result` receives a
  // note.
  void (*run)(Subject& subject, CaseResult* result);
  CallSet calls;  // functions that it may call, on any plugin
  Evidence evidence = Evidence::kOwn;
  std::optional<FastCost> fast = {};  // set by AllCases; such cases also run before the first trial

  bool Is(uint32_t kind) const { return (kinds & (1u << kind)) != 0; }
};

// In the order in which they run.
const std::vector<Case>& AllCases();
const Case* FindCase(const std::string& name);  // NULL: no such case
// A function of this case that did not return in an earlier case. Absent: the case can run.
std::optional<PluginCall> StuckIn(const Case& one, CallSet stuck);
// The table for people, as on the guide's page.
std::string CasesMarkdown();

}  // namespace backplane
