// plan.jsonl: what the experiment file stands for, as a batch was started with it. One object per line: the trials in the order
// in which they should run, then the points that were dropped.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sweep/plan.hpp"

namespace backplane {

struct PlanLine {
  std::vector<std::pair<std::string, nlohmann::json>> values;  // of each path that sweep and phases name, in the file's order
  // Of a trial; empty if dropped.
  std::string trial_id, point_id, name;  // name: of the point
  std::string phase, after;              // after: the trial whose learner it starts from; empty: none
  uint64_t seed = 0;
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the file named there
  // Of a point that was dropped.
  bool dropped = false;
  std::string rule, why;
};

std::vector<PlanLine> PlanLines(const Plan& plan);

// Whole or not at all. Throws std::runtime_error.
void WritePlanFile(const std::filesystem::path& file, const std::vector<PlanLine>& lines);

// Throws std::runtime_error naming file and line. An absent file is an error too.
std::vector<PlanLine> ReadPlanFile(const std::filesystem::path& file);

// What a person calls a trial: its point's name, and the seed where the plan has several seeds or the point has no name.
std::string DisplayName(const PlanLine& trial, bool several_seeds);
bool HasSeveralSeeds(const std::vector<PlanLine>& plan);
std::vector<std::string> DisplayNames(const Plan& plan);  // [trials]

}  // namespace backplane
