// Loads an experiment file for a command and prints its errors.
#pragma once

#include <algorithm>
#include <cstdio>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "input/check_report.hpp"
#include "input/run_args.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "record/plan_schema.hpp"
#include "sweep/plan.hpp"

namespace backplane {

inline void PrintErrors(const std::vector<Diagnostic>& errors) {
  for (size_t i = 0; i < std::min(errors.size(), kShownErrors); ++i) LogError("{}", Format(errors[i]));
  if (errors.size() > kShownErrors) {
    LogError("and {} more errors", FormatCount(errors.size() - kShownErrors));
  }
}

inline void Complain(size_t errors, const std::filesystem::path& file) {
  LogError("{} {} in {}; nothing was started", FormatCount(errors), errors == 1 ? "error" : "errors", Printable(file.string()));
}

// Prints every error to stderr; the command then ends with kUsage before any trial.
inline void Complain(const std::vector<Diagnostic>& errors, const std::filesystem::path& file) {
  PrintErrors(errors);
  Complain(errors.size(), file);
}

// MakePlan with a check of `report:`.
inline PlanResult PlanFile(const std::filesystem::path& file, PlanOptions options) {
  options.check_report = ErrorsOfReport;
  return MakePlan(file, options);
}

// PlanFile with the ids that the trials in the results folder have. `out` empty: the file's own folder.
inline PlanResult PlanFileIn(const std::filesystem::path& file, PlanOptions options, const std::filesystem::path& out,
                             bool fresh) {
  options.out = out;
  options.fresh = fresh;
  PlanResult result = PlanFile(file, options);
  if (!result.plan || fresh) return result;
  options.schema = PlanSchemaIn(out.empty() ? std::filesystem::path(result.plan->base.experiment.output_dir) : out);
  return options.schema == kPlanSchema ? std::move(result) : PlanFile(file, std::move(options));
}

}  // namespace backplane
