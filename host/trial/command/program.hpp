// Resolves the program of a command and explains its end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/trial_spec.hpp"
#include "trial/exit_reason.hpp"

namespace backplane {

inline constexpr char kPythonKey[] = "learner.python";

// The words to execute, with the program resolved: by path or, without a slash, on PATH. `cpus`: the number of granted cores.
// Throws std::runtime_error if there is no such program. A function is called by backplane_function.py (host/client), in
// learner.python, else the active virtual environment's Python, else python3.
std::vector<std::string> CommandWords(const TrialSpec& spec, size_t cpus);

// The reason of an end without a stop. `last_lines` of its output may report that memory ran out. `oom_killed`: the kernel's
// out-of-memory killer ended some process.
ExitReason ReasonOfEnd(const std::string& program, const ChildExit& exit, const std::vector<std::string>& last_lines,
                       bool oom_killed);

}  // namespace backplane
