// The end of a trial by plugins or by a command: its exit code, and its part of result.json.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "contract/trial_spec.hpp"
#include "trial/status.hpp"

namespace backplane {

struct ExitReason {
  TrialExit exit = kExitOk;
  Outcome outcome = Outcome::kOk;
  std::string plugin;  // the culprit; empty: unknown
  std::string error;   // a sentence; empty for ok
};

// Converts the exception in flight. Call it within `catch (...)`.
ExitReason ReasonOfCurrentException();

TrialEnd EndOf(const TrialFile& trial, const ExitReason& reason);

// Reports that result.json could not be written. Returns the exit code of the process.
int ExitWithoutResult(const ExitReason& reason, const std::exception& error, StatusWriter* status);

// Returns the exit code of `run`, or the exit code for an exception of a trial that did not start.
int ExitOf(const std::function<int()>& run);

}  // namespace backplane
