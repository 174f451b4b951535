// plan.jsonl (record/plan_line.hpp), written and read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

// Whole or not at all. Throws std::runtime_error.
void WritePlanFile(const std::filesystem::path& file, const std::vector<PlanLine>& lines);

// Throws std::runtime_error naming file and line. An absent file is an error too.
std::vector<PlanLine> ReadPlanFile(const std::filesystem::path& file);

// What a person calls a trial: its point's name, and the seed where the plan has several seeds or the point has no name.
std::string DisplayName(const PlanLine& trial, bool several_seeds);
bool HasSeveralSeeds(const std::vector<PlanLine>& plan);

}  // namespace backplane
