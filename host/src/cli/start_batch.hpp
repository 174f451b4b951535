// What every command that runs trials does before the first one.
#pragma once

#include <optional>

#include "cli/commands.hpp"
#include "supervise/batch.hpp"
#include "supervise/resources.hpp"

namespace backplane {

// Absent after it was said why these trials could never start here.
std::optional<Slots> SlotsFor(const Plan& plan, const SlotLimits& limits);

// All of a request but its plan and its folder.
void FillRequest(const RunArgs& args, BatchRequest* request);

}  // namespace backplane
