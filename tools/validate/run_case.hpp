// Runs a case in its own process: a crash, a hang or an exit is a result.
#pragma once

#include <functional>
#include <vector>

#include "validate/case_table.hpp"

namespace backplane {

struct RunCaseOptions {
  bool in_process = false;        // for a debugger: a crash takes this process with it
  double limit_s = 45;            // wall time; up to twice that on a busy machine
  std::function<void()> on_slow;  // called once after kSlow_s; not for a case in this process
};

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options);

// Returns the next case, or NULL if none is left. Called in the case process; its exceptions end the cases. A failed CaseEnd
// counts for the case of NowOfCase.
using NextCase = std::function<const Case*(Subject&)>;

// Called in that process between two cases: if it ends from now on, this case is the cause.
void NowOfCase(const Case& one);

struct CasesRun {
  std::vector<CaseResult> results;  // of each ended case
  bool complete = true;             // none took too long, and no signal stopped them
};

// Runs several cases in one process, one by one.
CasesRun RunCases(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting, double limit_s);

}  // namespace backplane
