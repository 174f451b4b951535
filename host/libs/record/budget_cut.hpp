// The part of a finished trial within its budget. If the budget is lowered, the trial has later iterations, which do not count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/budget.hpp"
#include "record/measurements.hpp"
#include "record/plan_line.hpp"
#include "record/results_folder.hpp"

namespace backplane {

struct BudgetCut {
  Iteration last;                      // the line of the last iteration that counts
  std::optional<Iteration> evaluated;  // the last such line with an evaluation
  std::optional<BestScore> best;       // of the evaluations until then
  std::optional<double> sps;           // of the attempt's iterations until then, without its first
  bool longer = false;                 // the trial has later iterations
  bool result_fits = false;            // an attempt ended there, so its result.json has the last values

  uint64_t iteration() const { return last.iteration.value_or(0); }
};

struct WithinBudget {
  TrialRecord record;            // without the attempts after the cut
  std::optional<BudgetCut> cut;  // absent: all iterations count
};

// kIfLonger: only trials that outlived the budget. kAlike: every trial, so that all last values come from lines. Otherwise some
// trials would have an evaluation at their end, and others an earlier one.
enum class CutHow { kIfLonger = 1, kAlike };

// `budget` as in plan.jsonl. Reads the trial's files only if it may have outlived the budget, or for kAlike.
WithinBudget CutAtBudget(const ResultsFolder& folder, const TrialRecord& record, const std::optional<Budget>& budget,
                         CutHow how = CutHow::kIfLonger);
// kAlike if the values of any trial in the plan come from lines.
CutHow HowToCut(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record);

// As ReadMeasurements and ReadIterations of the last attempt in `within`, or an earlier one. Time shares have no part within
// the budget and are left out.
Measurements ReadMeasurements(const AttemptFolder& attempt, const std::optional<BudgetCut>& cut);
std::vector<IterationValue> ReadIterations(const AttemptFolder& attempt, const std::optional<BudgetCut>& cut);

}  // namespace backplane
