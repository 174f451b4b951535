// The command that tries a proposed change: the batch's own command with the change.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"
#include "rules/findings.hpp"

namespace backplane {

// Fix::command of every change; `program` as a person types it.
void AddTryCommands(const std::vector<ResultSet>& sets, const std::string& program, Diagnosis* diagnosis);

}  // namespace backplane
