#include "input/check_report.hpp"

#include <chrono>

#include "base/error_words.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kCheckLimit{5};  // it takes milliseconds, and no trial has started yet

ReportCheckAnswer Ask(const ReportCheckRequest& request) {
  try {
    const std::string answer = ReportProgram(ReportProgram().file(), kCheckLimit).Ask("--check", ToJson(request));
    return RecordFromJson<ReportCheckAnswer>(nlohmann::json::parse(answer));
  } catch (const std::exception& error) {
    LogInfo("note: `report:` was not checked: {}", WordsOf(error));
    return {};
  }
}

bool HasMeasures(const ReportConfig& report) {
  return !report.columns.is_null() || !report.figures.is_null() || !report.select.is_null();
}

}  // namespace

std::vector<ReportError> ErrorsOfReport(const ReportConfig& report) {
  if (!HasMeasures(report) && report.notes.is_null() && !report.name) return {};
  return Ask({report, {}, {}, std::nullopt}).errors;
}

ReportCheckAnswer CheckMeasures(const Experiment& experiment, const ComparedMeasure& compared,
                                const RecordedMeasures& recorded) {
  if (!HasMeasures(experiment.report) && experiment.live.empty() && compared.metric.empty()) return {};
  return Ask({experiment.report, experiment.live, compared, recorded});
}

}  // namespace backplane
