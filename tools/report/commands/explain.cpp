// --explain: explains a finding.
#include <cstdio>

#include "base/suggest.hpp"
#include "commands/commands.hpp"
#include "log/log.hpp"
#include "record/report_requests.hpp"
#include "rules/findings.hpp"

namespace backplane {
namespace {

constexpr int kNoSuchFinding = 2;

}  // namespace

int ExplainCommand(const nlohmann::json& json) {
  const auto [id] = RecordFromJson<ExplainRequest>(json);
  if (const std::optional<std::string> text = Explain(id)) {
    std::fputs(text->c_str(), stdout);
    return 0;
  }
  std::vector<std::string> ids;
  for (const RuleInfo& rule : FindingRules()) ids.push_back(rule.id);
  if (id == "list") {
    for (const RuleInfo& rule : FindingRules()) std::printf("%-20s %s\n", rule.id.c_str(), rule.fires_when.c_str());
    return 0;
  }
  LogError("backplane: there is no finding '{}'{}; --explain list prints all findings", id,
           DidYouMean(Nearest(id, Candidates(ids))));
  return kNoSuchFinding;
}

}  // namespace backplane
