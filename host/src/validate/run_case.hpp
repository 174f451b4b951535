// One case, in a process of its own: what crashes, hangs or ends the process is a result.
#pragma once

#include <functional>
#include <vector>

#include "validate/case_table.hpp"

namespace backplane {

struct RunCaseOptions {
  bool in_process = false;  // for a debugger: what crashes takes this process with it
  double limit_s = 45;      // of CPU time, and of time in which it waits
};

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options);

// The case to run next; NULL: no more. It is called in the process of the cases, and what it throws ends them; a failed CaseEnd
// is one of NowOfCase.
using NextCase = std::function<const Case*(Subject&)>;

// In that process, between two cases: from now on its end is one of this case.
void NowOfCase(const Case& one);

// Several in one process, one after the other. Returns what came of each that was begun; of one that took too long, nothing.
std::vector<CaseResult> RunCases(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting, double limit_s);

}  // namespace backplane
