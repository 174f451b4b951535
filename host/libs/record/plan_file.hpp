// Reads and writes plan.jsonl (record/plan_line.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

// Writes the whole file or nothing. Throws std::runtime_error.
void WritePlanFile(const std::filesystem::path& file, const std::vector<PlanLine>& lines);

// Throws std::runtime_error with file and line; a missing file is an error too.
std::vector<PlanLine> ReadPlanFile(const std::filesystem::path& file);

// The name shown for a trial: its point's name, plus the seed if the plan has several seeds or the point has no name.
std::string DisplayName(const PlanLine& trial, bool several_seeds);
bool HasSeveralSeeds(const std::vector<PlanLine>& plan);

}  // namespace backplane
