#include "cli/check_report.hpp"

#include "cli/report_program.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

ReportCheckAnswer Ask(const Experiment& experiment, std::optional<std::vector<std::string>> recorded) {
  const ReportCheckRequest request{ToJson(experiment).at("report"), experiment.live, std::move(recorded)};
  try {
    const std::string answer = ReportProgram().Ask("--check", ToJson(request));
    return RecordFromJson<ReportCheckAnswer>(nlohmann::json::parse(answer));
  } catch (const std::exception& error) {
    LogInfo("note: what `report:` says was not checked: {}", error.what());
    return {};
  }
}

bool HasMeasures(const ReportConfig& report) {
  return !report.columns.is_null() || !report.figures.is_null() || !report.select.is_null();
}

}  // namespace

std::vector<KeyError> ErrorsOfReport(const ReportConfig& report) {
  if (!HasMeasures(report) && report.notes.is_null() && !report.name) return {};
  Experiment experiment;
  experiment.report = report;
  std::vector<KeyError> errors;
  for (ReportError& error : Ask(experiment, std::nullopt).errors)
    errors.push_back({std::move(error.path), std::move(error.message)});
  return errors;
}

std::vector<Misnamed> MisnamedIn(const Experiment& experiment, const std::set<std::string>& recorded) {
  if (!HasMeasures(experiment.report) && experiment.live.empty()) return {};
  return Ask(experiment, std::vector<std::string>(recorded.begin(), recorded.end())).misnamed;
}

}  // namespace backplane
