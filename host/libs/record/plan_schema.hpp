// The version of the identities in a results folder, which its trials keep.
#pragma once

#include <filesystem>

namespace backplane {

// kPlanSchema if the folder has no plan. Throws std::runtime_error for a folder of a later version.
int PlanSchemaIn(const std::filesystem::path& out);

}  // namespace backplane
