// Loads an experiment file for a command and prints what is wrong with it.
#pragma once

#include <algorithm>
#include <cstdio>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "cli/check_report.hpp"
#include "cli/commands.hpp"
#include "cli/plugin_search.hpp"
#include "sweep/plan.hpp"

namespace backplane {

inline void PrintErrors(const std::vector<Diagnostic>& errors) {
  for (size_t i = 0; i < std::min(errors.size(), kShownErrors); ++i) std::fprintf(stderr, "%s\n", Format(errors[i]).c_str());
  if (errors.size() > kShownErrors) {
    std::fprintf(stderr, "and %s more, which are not shown\n", FormatCount(errors.size() - kShownErrors).c_str());
  }
}

// Prints every error to stderr; the command then ends with kUsage, and nothing was started.
inline void Complain(const std::vector<Diagnostic>& errors, const std::filesystem::path& file) {
  PrintErrors(errors);
  std::fprintf(stderr, "%s %s in %s; nothing was started\n", FormatCount(errors.size()).c_str(),
               errors.size() == 1 ? "error" : "errors", Printable(file.string()).c_str());
}

// MakePlan, and what `report:` of the file says.
inline PlanResult PlanFile(const std::filesystem::path& file, PlanOptions options) {
  options.check_report = ErrorsOfReport;
  return MakePlan(file, options);
}

}  // namespace backplane
