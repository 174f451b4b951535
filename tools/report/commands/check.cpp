// --check: checks `report:` of an experiment file.
#include <cstdio>
#include <set>

#include "base/json_text.hpp"
#include "commands/commands.hpp"
#include "kinds/check_report.hpp"
#include "kinds/measure_names.hpp"
#include "record/report_check.hpp"

namespace backplane {

int CheckCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<ReportCheckRequest>(json);
  ReportCheckAnswer answer;
  if (request.recorded) {
    std::set<std::string> names;
    for (const auto& [name, direction] : *request.recorded) names.insert(name);
    answer.misnamed = FindMisnamed(request.report, request.live, names, request.compared.metric);
    answer.direction = DirectionOf(request.compared.metric, *request.recorded, request.report);
    answer.undirected = IsUndirected(request.compared, *request.recorded, request.report);
  } else {
    answer.errors = CheckReport(request.report);
  }
  std::printf("%s\n", JsonText(ToJson(answer)).c_str());
  return 0;
}

}  // namespace backplane
