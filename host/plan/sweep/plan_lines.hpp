// A plan as plan.jsonl has it (record/plan_line.hpp).
#pragma once

#include <string>
#include <vector>

#include "record/plan_line.hpp"
#include "sweep/plan.hpp"

namespace backplane {

std::vector<PlanLine> PlanLines(const Plan& plan);
std::vector<std::string> DisplayNames(const Plan& plan);  // [trials]

}  // namespace backplane
