// The report of a comparison: which of its arms is better, by how much, and whether the evidence is enough. Below it stands
// what every comparison shows.
#pragma once

#include "kinds/report_context.hpp"
#include "record/compare_answer.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

Document AbReport(const std::vector<ResultSet>& sets, const ReportContext& context);

// Computes only the verdict, so that `compare` can decide on another look.
CompareAnswer JudgeResults(const std::vector<ResultSet>& sets, const ReportContext& context);

}  // namespace backplane
