// The command that tries a proposed change: the batch's own command with the change.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"
#include "rules/findings.hpp"

namespace backplane {

// Sets Fix::command of every change. `program`: the command name as typed by the user.
void AddTryCommands(const std::vector<ResultSet>& sets, const std::string& program, Diagnosis* diagnosis);

}  // namespace backplane
