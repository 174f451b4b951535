#include "kinds/check_report.hpp"

#include <fmt/format.h>

#include "base/file_name.hpp"
#include "kinds/comparison_spec.hpp"
#include "record/report_kinds.hpp"

namespace backplane {

std::vector<ReportError> CheckReport(const ReportSection& report) {
  std::vector<ReportError> errors;
  if (TakesColumns(report.kind)) {
    ReadComparisonSpec(report, &errors);
  } else {
    const std::pair<std::string, const nlohmann::json*> keys[] = {{"report.columns", &report.columns},
                                                                  {"report.figures", &report.figures},
                                                                  {"report.select", &report.select},
                                                                  {"report.notes", &report.notes}};
    for (const auto& [path, value] : keys) {
      if (!value->is_null()) errors.push_back({path, path + ": only reports of `kind: comparison` use this key"});
    }
  }
  if (report.name && !IsFileName(*report.name))
    errors.push_back(
        {"report.name", fmt::format("report.name: expected a file name without a leading dot, got '{}'", *report.name)});
  return errors;
}

}  // namespace backplane
