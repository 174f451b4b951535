// What ended a trial before its time, told from the exception: one table for running and for checking.
#pragma once

#include <string>

#include "trial/contract.hpp"

namespace backplane {

struct ExitReason {
  TrialExit exit = kExitOk;
  Outcome outcome = Outcome::kOk;
  std::string plugin;  // whose fault; empty: nobody's in particular
  std::string error;   // a sentence; empty for ok
};

// Of the exception that is being handled: to be called within `catch (...)`.
ExitReason ReasonOfCurrentException();

}  // namespace backplane
