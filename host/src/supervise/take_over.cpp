#include "supervise/take_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "record/results_folder.hpp"
#include "store/damage.hpp"
#include "supervise/interrupt.hpp"
#include "supervise/layout.hpp"
#include "supervise/recover.hpp"
#include "trial/checkpoint_folder.hpp"

namespace backplane {
namespace {

// How the reason of a trial begins that could not start from another; older results say "phase".
constexpr char kLostItsStart[] = "the stage before it, ", kLostItsStartOlder[] = "the phase before it, ";

}  // namespace

Reasons TakeDamagedBack(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                        const std::vector<std::string>& names, std::vector<std::string>* sentences) {
  Reasons damaged;
  for (size_t i = 0; i < plan.trials.size() && InterruptScope::Count() == 0; ++i) {
    const TrialRecord* trial = record.Find(plan.trials[i].id);
    if (trial == nullptr || !IsFinished(trial->state)) continue;
    const std::vector<Damage> found = DamageOf(ResultsFolder{out}, *trial);
    for (const Damage& one : found) sentences->push_back(names[i] + " is damaged and still to do: " + SentenceOf(one));
    if (found.empty()) continue;
    // First: an event without it would let the trial go on from its own end.
    SetCheckpointAside(TrialFolderOf(out, plan.trials[i].id));
    damaged.emplace_back(i, "damaged: " + SentenceOf(found.front()));
  }
  return damaged;
}

bool LostItsStart(const TrialRecord& record) {
  return record.state == TrialState::kSkipped &&
         (record.why.starts_with(kLostItsStart) || record.why.starts_with(kLostItsStartOlder));
}

Reasons InferredInfeasible(const Plan& plan, const Schedule& schedule) {
  Reasons inferred;
  for (const auto& [trial, smaller] : schedule.OutOfMemoryToo())
    inferred.emplace_back(trial, "inferred: " + plan.trials[smaller].id + " needs no more memory and did not fit");
  return inferred;
}

Reasons NeverStarting(const Plan& plan, const Schedule& schedule, const std::vector<std::string>& names) {
  Reasons never;
  for (const size_t trial : schedule.NeverCan()) {
    const size_t before = *plan.trials[trial].after;
    const TrialState state = schedule.state(before);  // PLANNED: one of these itself
    never.emplace_back(
        trial, kLostItsStart + names[before] + ", is " + Word(state == TrialState::kPlanned ? TrialState::kSkipped : state));
  }
  return never;
}

std::vector<size_t> Untried(const std::filesystem::path& out, const Plan& plan, const Schedule& schedule,
                            const BatchRecord& record) {
  std::set<size_t> tried;
  for (const PlannedTrial& trial : plan.trials) {
    const TrialRecord* known = record.Find(trial.id);
    // What was skipped in this session is no longer in the record, and may have a checkpoint of an earlier one.
    if ((known != nullptr && known->state == TrialState::kCompleted) ||
        HasCheckpoint(TrialFolderOf(out, trial.id).checkpoint()))
      tried.insert(trial.point);
  }
  std::vector<size_t> untried;
  for (size_t i = 0; i < plan.trials.size(); ++i)
    if (schedule.Waits(i) && !tried.contains(plan.trials[i].point)) untried.push_back(i);
  return untried;
}

std::string SayWhatIsNotInThePlan(const Plan& plan, const BatchRecord& record) {
  std::set<std::string> planned;
  for (const PlannedTrial& trial : plan.trials) planned.insert(trial.id);
  const auto n = std::count_if(record.trials.begin(), record.trials.end(),
                               [&](const auto& trial) { return !planned.contains(trial.first); });
  if (n == 0) return "";
  // Fresh seeds are no part of the plan while there is more to search.
  if (plan.search)
    return fmt::format(
        "{} {} in this folder {} no part of the search now: fresh seeds of what was the best, or of other plans; "
        "they are kept (results.sqlite has them) and not shown",
        n, n == 1 ? "trial" : "trials", n == 1 ? "is" : "are");
  return std::to_string(n) + (n == 1 ? " trial" : " trials") +
         " of other plans lie in this folder; they are kept (results.sqlite has them) and not shown";
}

}  // namespace backplane
