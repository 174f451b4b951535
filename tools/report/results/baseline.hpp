// Chooses the setting to which speedups of a series are relative.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// Sets `baseline` and `baseline_note` of each series. A setting without a speed is never a baseline. `wanted` as in
// AnalyseParallelEfficiency.
void ChooseBaselines(const Combined& combined, const nlohmann::json& wanted, ParallelEfficiency* analysis);

}  // namespace backplane
