// Loads an experiment file for a command and prints what is wrong with it.
#pragma once

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/plugin_search.hpp"
#include "report/check_report.hpp"
#include "sweep/plan.hpp"

namespace backplane {

inline void PrintErrors(const std::vector<Diagnostic>& errors) {
  for (const Diagnostic& error : errors) {
    const std::string text = Format(error);
    std::fprintf(stderr, "%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
  }
}

// Prints every error to stderr; the command then ends with kUsage, and nothing was started.
inline void Complain(const std::vector<Diagnostic>& errors, const std::filesystem::path& file) {
  PrintErrors(errors);
  std::fprintf(stderr, "%zu %s in %s; nothing was started\n", errors.size(), errors.size() == 1 ? "error" : "errors",
               file.c_str());
}

// MakePlan, and what `report:` of the file says.
inline PlanResult PlanFile(const std::filesystem::path& file, const PlanOptions& options) {
  PlanResult result = MakePlan(file, options);
  if (!result.plan) return result;
  result.errors = CheckReport(result.plan->base);
  if (!result.errors.empty()) result.plan.reset();
  return result;
}

}  // namespace backplane
