// Options that plugins reject, as errors of the experiment file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "batch/batch.hpp"
#include "batch/option_check.hpp"
#include "batch/resource_pool.hpp"
#include "config/loader.hpp"
#include "sweep/plan.hpp"

namespace backplane {

struct SaidOnce {
  Diagnostic diagnostic;  // the first line of the error
  FailedCheck check;      // the first with this error
};
// Prints it to stderr, with the error's further lines: a hint, or a traceback.
void PrintError(const SaidOnce& said);

// Each with the place of the option that it is about or, where it names none, of the plugin; with none if its process was
// killed from outside. The same of several points is one, also where a crash's last words differ.
std::vector<SaidOnce> SayOnce(const Plan& plan, const std::vector<FailedCheck>& failed);

// Unknown names in `report:`, `output.live` and compare.metric that resemble one of `recorded` or of the host's. A name without
// a similar one may come from a plugin that does not declare it, so it is only a note on stderr. Also a compare.metric of
// unknown direction.
std::vector<FailedCheck> MisnamedMeasures(const Plan& plan, const RecordedMeasures& recorded);

// The same for a command, by its reports until now or until its end. A name without a similar one is unknown only at the end.
std::vector<UnrecordedName> UnrecordedNames(const Plan& plan, const RecordedMeasures& recorded, bool has_ended);

// The direction of the searched metric as its plugin declares it, if the file does not: up (1), down (-1) or unknown (0).
int DirectionOfSearch(const Plan& plan, const RecordedMeasures& recorded);

// After a Ctrl-C, for a person.
inline constexpr char kStoppedWhileChecking[] =
    "stopped during the plugin check; no trial was started; the same command resumes\n";

// Asks the plugins of all trials (CheckOptions) in a folder of its own, which is gone afterwards: for commands that run
// nothing. A vanished `learner.start_from` is read from the results folder `kept_in`; empty: there is none. Prints their
// answers; if `quiet`, only errors. Returns the exit code if they reject `file`.
std::optional<int> RejectedByPlugins(const Plan& plan, const std::filesystem::path& file, ResourcePool* resource_pool,
                                     const std::filesystem::path& kept_in, bool quiet = false);

}  // namespace backplane
