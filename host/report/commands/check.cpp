// --check: what is wrong with `report:` of an experiment file.
#include <cstdio>
#include <set>

#include "base/json_text.hpp"
#include "commands/commands.hpp"
#include "kinds/check_report.hpp"
#include "kinds/measure_names.hpp"
#include "kinds/report_config.hpp"
#include "record/report_check.hpp"

namespace backplane {

int CheckCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<ReportCheckRequest>(json);
  const ReportConfig report = ReportConfigOf(request.report);
  ReportCheckAnswer answer;
  if (request.recorded) {
    answer.misnamed = FindMisnamed(report, request.live, {request.recorded->begin(), request.recorded->end()});
  } else {
    for (KeyError& error : CheckReport(report)) answer.errors.push_back({std::move(error.path), std::move(error.message)});
  }
  std::printf("%s\n", JsonText(ToJson(answer)).c_str());
  return 0;
}

}  // namespace backplane
