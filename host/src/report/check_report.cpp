#include "report/check_report.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file_name.hpp"
#include "report/comparison_spec.hpp"

namespace backplane {
namespace {

// `place` as in LoadedExperiment::origin: "walk.yaml:12:5", or "--set".
Diagnostic At(const std::string& place, std::string message) {
  Diagnostic diagnostic{place, 0, 0, std::move(message), ""};
  const size_t column = place.rfind(':');
  const size_t line = column == std::string::npos || column == 0 ? std::string::npos : place.rfind(':', column - 1);
  if (line == std::string::npos) return diagnostic;
  diagnostic.file = place.substr(0, line);
  diagnostic.line = std::atoi(place.c_str() + line + 1);
  diagnostic.column = std::atoi(place.c_str() + column + 1);
  return diagnostic;
}

}  // namespace

std::vector<Diagnostic> CheckReport(const LoadedExperiment& loaded) {
  const ReportConfig& report = loaded.experiment.report;
  std::vector<SpecError> errors;
  if (report.kind == "comparison") {
    ReadComparisonSpec(report, &errors);
  } else {
    const std::pair<const char*, const nlohmann::json*> keys[] = {{"report.columns", &report.columns},
                                                                  {"report.figures", &report.figures},
                                                                  {"report.select", &report.select},
                                                                  {"report.notes", &report.notes}};
    for (const auto& [path, value] : keys) {
      if (!value->is_null()) errors.push_back({path, "is for `kind: comparison` only"});
    }
  }
  if (report.name && !IsFileName(*report.name))
    errors.push_back({"report.name", fmt::format("should be a file's name that is not hidden, found '{}'", *report.name)});
  std::vector<Diagnostic> diagnostics;
  for (const SpecError& error : errors) {
    // An entry's place is not kept; its key's, or that of a mapping above it, is.
    std::string path = error.path;
    auto origin = loaded.origin.find(path);
    if (origin == loaded.origin.end()) origin = loaded.origin.lower_bound(path);
    const bool below = origin != loaded.origin.end() && origin->first.starts_with(path);
    diagnostics.push_back(At(below ? origin->second : "", error.path + ": " + error.why));
  }
  return diagnostics;
}

}  // namespace backplane
