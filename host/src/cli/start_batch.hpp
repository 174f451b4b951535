// What every command that runs trials does before the first one.
#pragma once

#include <optional>

#include "cli/commands.hpp"
#include "supervise/batch.hpp"
#include "supervise/resource_pool.hpp"

namespace backplane {

// Absent after it was said why these trials could never start here.
std::optional<ResourcePool> ResourcePoolFor(const Plan& plan, const ResourceLimits& limits);

// All of a request but its plan and its folder.
void FillRequest(const RunArgs& args, BatchRequest* request);

}  // namespace backplane
