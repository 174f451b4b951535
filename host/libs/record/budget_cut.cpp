#include "record/budget_cut.hpp"

#include <algorithm>
#include <cmath>

#include "record/attempt_json.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {

// Finds the first line at which the budget is used up, over all attempts that led to the last one.
class CutFinder {
 public:
  CutFinder(const Budget& budget, const std::optional<BestScore>& best, CutHow how) : budget_(budget), how_(how), best_(best) {
    if (best_) best_->value = std::nan("");
  }

  void BeginAttempt(size_t attempt) { attempt_ = attempt, first_ = true, begun_ = false, steps_ = 0, seconds_ = 0; }

  void Add(const Iteration& line) {
    if (!line.iteration) return;
    // An attempt repeats the lines of an earlier one that was killed after its checkpoint.
    if (std::exchange(first_, false)) {
      if (cut_ && *line.iteration <= cut_->iteration()) cut_.reset();
      if (evaluated_ && *line.iteration <= *evaluated_->iteration) evaluated_.reset();
    }
    if (cut_) return;
    AddSpeed(line);
    if (line.eval) evaluated_ = line, AddBest(line);
    if (how_ == CutHow::kAlike) last_ = line;
    if (Reached(budget_, ReachOf(line))) CutAt(line);
  }

  // Call it after the last line.
  const std::optional<BudgetCut>& cut() {
    if (!cut_ && last_) CutAt(*last_);
    return cut_;
  }
  size_t attempt() const { return at_; }  // index of the attempt with the cut

 private:
  void CutAt(const Iteration& line) {
    cut_ = BudgetCut{line, evaluated_, best_ && std::isfinite(best_->value) ? best_ : std::nullopt,
                     seconds_ > 0 ? std::optional(static_cast<double>(steps_) / seconds_) : std::nullopt};
    at_ = attempt_;
  }

  void AddSpeed(const Iteration& line) {
    const uint64_t step = line.step.value_or(0);
    if (begun_ && line.time.iteration_s) steps_ += step - std::min(step, before_), seconds_ += *line.time.iteration_s;
    before_ = step;
    begun_ = true;
  }

  void AddBest(const Iteration& line) {
    if (!best_) return;
    for (const MetricValue& one : MetricSeries(line)) {
      const bool better = std::isfinite(one.value) &&
                          (!std::isfinite(best_->value) || best_->direction * one.value > best_->direction * best_->value);
      if (one.name == best_->metric && better)
        best_->value = one.value, best_->iteration = *line.iteration, best_->env_steps = line.step.value_or(0);
    }
  }

  const Budget& budget_;
  const CutHow how_;
  std::optional<BestScore> best_;
  std::optional<Iteration> evaluated_, last_;
  std::optional<BudgetCut> cut_;
  size_t attempt_ = 0, at_ = 0;
  bool first_ = true, begun_ = false;
  uint64_t steps_ = 0, before_ = 0;
  double seconds_ = 0;
};

bool EndedAt(const TrialResult& result, uint64_t iteration) {
  return result.state == TrialState::kCompleted && result.iterations == iteration;
}

TrialResult CutResult(const BudgetCut& cut, TrialResult result) {
  const Iteration& last = cut.last;
  result.iterations = last.iteration;
  result.env_steps = last.step;
  result.episodes = last.episodes;
  result.trial_s = last.time.t;
  result.sps = cut.sps;
  result.best = cut.best;
  result.training = {last.episode_return, last.ep.value_or(std::map<std::string, Spread>())};
  result.evaluation = cut.evaluated ? cut.evaluated->eval : std::nullopt;
  result.evaluated_at = cut.evaluated ? cut.evaluated->iteration : std::nullopt;
  result.wall_s = result.sampling_sps = result.unnamed_share = result.control_unnamed_share = std::nullopt;
  result.rollout.reset(), result.data.reset(), result.monitors.reset(), result.checkpoint.reset(), result.ended_by.reset();
  result.phases.clear(), result.time.clear(), result.evaluation_returns.clear(), result.long_ticks.clear();
  return result;
}

}  // namespace

WithinBudget CutAtBudget(const ResultsFolder& folder, const TrialRecord& record, const std::optional<Budget>& budget,
                         CutHow how) {
  WithinBudget within{record, std::nullopt};
  std::vector<AttemptRecord>& attempts = within.record.attempts;
  if (!budget || attempts.empty() || !IsFinished(record.state)) return within;
  const auto attempt = [&](size_t i) { return folder.attempt(record.id, attempts[i].number); };
  const bool alike = how == CutHow::kAlike;
  const TrialResult result = ReadResult(attempt(attempts.size() - 1));
  const bool one_end = attempts.size() == 1 && result.budget == budget;
  if (!alike && (one_end || !Reached(*budget, ReachOf(result)))) return within;
  size_t first = attempts.size() - 1;
  while (first > 0 && attempts[first].start.resumed) --first;
  CutFinder finder(*budget, result.best, how);
  for (size_t i = first; i < attempts.size(); ++i) {
    finder.BeginAttempt(i);
    ForEachIteration(attempt(i).metrics(), [&](const Iteration& line) { finder.Add(line); });
  }
  if (!finder.cut() || (!alike && EndedAt(result, finder.cut()->iteration()))) return within;
  within.cut = finder.cut();
  within.cut->longer = result.iterations.value_or(0) > within.cut->iteration();
  size_t last = finder.attempt();
  for (size_t i = last; i < attempts.size() && !alike && !within.cut->result_fits; ++i) {
    within.cut->result_fits = EndedAt(ReadResult(attempt(i)), within.cut->iteration());
    if (within.cut->result_fits) last = i;
  }
  attempts.resize(last + 1);
  return within;
}

CutHow HowToCut(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record) {
  const bool any = std::any_of(plan.begin(), plan.end(), [&](const PlanLine& line) {
    const TrialRecord* const known = line.budget ? record.Find(line.trial_id) : nullptr;
    const auto cut = known ? CutAtBudget(folder, *known, line.budget).cut : std::nullopt;
    return cut && !cut->result_fits;
  });
  return any ? CutHow::kAlike : CutHow::kIfLonger;
}

Measurements ReadMeasurements(const AttemptFolder& attempt, const std::optional<BudgetCut>& cut) {
  if (!cut || cut->result_fits) return ReadMeasurements(attempt);
  return MeasurementsOf(CutResult(*cut, ReadResult(attempt)));
}

std::vector<IterationValue> ReadIterations(const AttemptFolder& attempt, const std::optional<BudgetCut>& cut) {
  std::vector<IterationValue> values = ReadIterations(attempt);
  if (cut) std::erase_if(values, [&](const IterationValue& one) { return one.iteration > cut->iteration(); });
  return values;
}

}  // namespace backplane
