// What plugins say against the options of a plan, told as errors of the experiment file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "batch/option_check.hpp"
#include "batch/resource_pool.hpp"
#include "config/loader.hpp"
#include "sweep/plan.hpp"

namespace backplane {

struct SaidOnce {
  Diagnostic diagnostic;
  FailedCheck check;  // the first that says so
};

// Each with the place of the option that it is about or, where it names none, of the plugin; with none if its process was
// killed from outside. The same of several points is one, also where a crash's last words differ.
std::vector<SaidOnce> SayOnce(const Plan& plan, const std::vector<FailedCheck>& failed);

// Names in `report:`, `output.live` and compare.metric that none of `recorded`, nor the host's own, is like; one that is near
// none of them may be recorded all the same, by a plugin that does not tell, and is a note on stderr. And a compare.metric of
// which nobody says whether up or down is better.
std::vector<FailedCheck> MisnamedMeasures(const Plan& plan, const RecordedMeasures& recorded);

// Whether up (1) or down (-1) is better of what the plan searches for, where the file leaves it to who records it; 0: nobody
// says.
int DirectionOfSearch(const Plan& plan, const RecordedMeasures& recorded);

// After a Ctrl-C, for a person.
inline constexpr char kStoppedWhileChecking[] =
    "stopped during the plugin check; no trial was started; the same command resumes\n";

// Asks the plugins of all trials (CheckOptions) in a folder of its own, which is gone afterwards: for commands that run
// nothing. Prints their answers; if `quiet`, only errors. Returns the exit code if they reject `file`.
std::optional<int> RejectedByPlugins(const Plan& plan, const std::filesystem::path& file, ResourcePool* resource_pool,
                                     bool quiet = false);

}  // namespace backplane
