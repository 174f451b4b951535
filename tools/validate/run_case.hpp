// One case, in a process of its own: what crashes, hangs or ends the process is a result.
#pragma once

#include <functional>
#include <vector>

#include "validate/case_table.hpp"

namespace backplane {

struct RunCaseOptions {
  bool in_process = false;        // for a debugger: what crashes takes this process with it
  double limit_s = 45;            // of wall time; up to twice that on a busy machine
  std::function<void()> on_slow;  // called once a case has taken kSlow_s; not for one in this process
};

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options);

// Returns the case to run next; NULL: no more. Called in the process of the cases; its exceptions end them. A failed CaseEnd
// is one of NowOfCase.
using NextCase = std::function<const Case*(Subject&)>;

// In that process, between two cases: from now on its end is one of this case.
void NowOfCase(const Case& one);

struct CasesRun {
  std::vector<CaseResult> results;  // of each that ended
  bool complete = true;             // none took too long, and no signal stopped them
};

// Several in one process, one after the other.
CasesRun RunCases(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting, double limit_s);

}  // namespace backplane
