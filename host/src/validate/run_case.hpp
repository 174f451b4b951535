// One case, in a process of its own: what crashes, hangs or ends the process is a result.
#pragma once

#include "validate/case_table.hpp"

namespace backplane {

struct RunCaseOptions {
  bool in_process = false;  // for a debugger: what crashes takes this process with it
  double limit_s = 45;      // of CPU time, and of time in which it waits
};

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options);

}  // namespace backplane
