// Finds a trial of a results folder by the name that a person gives.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/plan_line.hpp"

namespace backplane {

// Empty if the folder has no plan.
std::vector<PlanLine> PlanLinesOf(const std::filesystem::path& out);

// The ids of all trials with this name, of a point or a trial, or this start of an id; without a name, of all trials. Throws
// std::runtime_error if there is none.
std::vector<std::string> FindTrials(const std::filesystem::path& out, const std::string& name,
                                    const std::vector<PlanLine>& plan);
// The id of the trial with this name or start of an id; without a name, of the only trial. Throws std::runtime_error if there
// is none, or more than one.
std::string FindTrial(const std::filesystem::path& out, const std::string& name, const std::vector<PlanLine>& plan);

}  // namespace backplane
