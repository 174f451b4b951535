// What plugins say against the options of a plan, told as errors of the experiment file.
#pragma once

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
inline constexpr char kStoppedWhileChecking[] = "stopped while checking; nothing was started; the same command goes on\n";

struct PluginsAsked {
  std::vector<Diagnostic> errors;
  std::vector<std::string> notes;  // sentences for the user that are no errors
  std::vector<std::string> warnings;
  bool all_config = true;  // false after a crash, for example: then a plugin is wrong, not the file
  bool interrupted = false;
};

// Asks the plugins of all trials (CheckOptions) in a folder of its own, which is gone afterwards: for commands that run
// nothing.
PluginsAsked AskPlugins(const Plan& plan, ResourcePool* resource_pool);

}  // namespace backplane
