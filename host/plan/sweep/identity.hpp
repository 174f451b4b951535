// The identity of a trial: everything that can change a number, and nothing else.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "record/run_info.hpp"

namespace backplane {

// The host keys at, below or above `path` that belong to the identity only if `sweep:` names them: keys of Scope::kSpeed, and
// the file of a plugin.
std::set<std::string> LeftOutKeys(const std::string& path);

// Also the keys of the budget at, below or above `path`: if `sweep:` names one, the budget stays in the identity.
std::set<std::string> KeysOfSwept(const std::string& path);

// Decided once per plan.
struct IdentityRules {
  int schema = kPlanSchema;
  bool keeps_budget = false;  // the experiment has stages, or it is a search
};

// kIdentity, kRead: a different budget makes a different trial, with kRead because of the learner's schedules. kLeftOut: a
// larger budget extends the trial. kSchedule: it does so, too, because the identity has schedule_budget instead.
enum class BudgetPlace { kIdentity = 1, kRead, kLeftOut, kSchedule };
BudgetPlace PlaceOfBudget(const LoadedExperiment& loaded, const std::map<std::string, nlohmann::json>& swept,
                          const IdentityRules& rules);
bool IsBudgetKey(const std::string& path);

// The resolved settings, without seed and without the content of any file. `swept` holds the values of left-out keys that the
// sweep names. Canonical (sorted keys). HostKey::canonical defines its content and places.
// `after` is the id of the point whose learner it starts from; empty: none, and the identity omits it.
nlohmann::json PointIdentity(const LoadedExperiment& loaded, const std::map<std::string, nlohmann::json>& swept,
                             const std::string& after = "", const IdentityRules& rules = {});

// Where it stands in an identity, by HostKey::canonical.
nlohmann::json& IdentityPlace(nlohmann::json* identity, const std::string& canonical);

// The bytes whose hash is an id: `identity.dump()`.
std::string CanonicalText(const nlohmann::json& identity);
void AppendCanonical(const nlohmann::json& value, std::string* text);

// `after` is the id of the trial whose learner it starts from; empty: of none.
nlohmann::json TrialIdentity(nlohmann::json point, uint64_t seed, const std::map<std::string, std::string>& files,
                             const std::string& after = "");

// The first 16 hex digits of the SHA-256 over the canonical text: in a million trials two ids meet by chance once in 30 million
// sweeps.
std::string IdOf(const nlohmann::json& identity);
std::string IdOfText(const std::string& canonical);
// IdOf(TrialIdentity(...)), from the canonical text of the point, which all its trials share.
std::string TrialIdOf(const std::string& point, uint64_t seed, const std::map<std::string, std::string>& files,
                      const std::string& after = "");

}  // namespace backplane
