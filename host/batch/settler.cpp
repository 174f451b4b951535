#include "batch/settler.hpp"

#include <fmt/format.h>

#include <utility>

#include "record/attempt_json.hpp"
#include "record/warning_text.hpp"

namespace backplane {

void Settler::Finish(const JobTable::Ended& ended) {
  if (ended.how.verdict.outcome == Outcome::kStale) ++state_.report.trials[ended.job.trial].lost_nodes;
  if (!ended.how.unwritten.empty()) state_.display.Note("warning: " + ended.how.unwritten);
  // Trials of one file usually have the same warnings.
  for (const std::string& warning : ended.how.warnings)
    if (warned_.insert(WarningKind(warning)).second) state_.display.Note("warning: " + WarningOnOneLine(warning));
  LookAtVersions(ended.how.facts, ended.job.trial);
  AttemptEnd told;
  told.exit = ended.end.exit.code;
  told.wall_s = ended.end.wall_s;
  told.peak_rss_bytes = ended.end.peak_rss_bytes;
  told.peak_memory_bytes = ended.end.peak_memory_bytes;
  told.memory_enforced_by = ended.end.memory_enforced_by;
  told.files = ended.how.files;
  if (!ended.end.host.empty()) told.host = ended.end.host;
  Settle(ended.job.trial, ended.job.attempt->number(), ended.how.verdict, std::move(told));
}

void Settler::NotStarted(size_t trial, unsigned attempt, const std::string& why) {
  AttemptVerdict verdict;
  verdict.outcome = Outcome::kTemp;
  verdict.state = TrialState::kFailed;
  verdict.why = "could not be started: " + why;
  Settle(trial, attempt, verdict, {});
}

// Compares with a trial of an earlier session first.
void Settler::LookAtVersions(const PluginFacts& facts, size_t trial) {
  if (!TellsVersions(facts)) return;
  for (size_t i = 0; i < state_.plan.trials.size() && !knows_versions_; ++i) {
    if (i == trial || state_.schedule.state(i) != TrialState::kCompleted) continue;
    const TrialFolder folder = state_.FolderOf(i);
    const PluginFacts earlier = ReadResult(folder.attempt(folder.LastAttempt())).facts;
    knows_versions_ = TellsVersions(earlier);
    versions_.Look(earlier, state_.names[i]);
  }
  knows_versions_ = true;
  for (const std::string& change : versions_.Look(facts, state_.names[trial])) state_.display.Note("warning: " + change);
}

void Settler::Settle(size_t trial, unsigned attempt, const AttemptVerdict& verdict, AttemptEnd told) {
  const std::string &id = state_.plan.trials[trial].id, &name = state_.names[trial];
  const FailureDecision next = failure_policy_.After(id, verdict);
  told.outcome = verdict.outcome;
  told.state = next.state;
  told.why = verdict.why;
  told.signal = verdict.signal;
  state_.log->Append(told, id, attempt);
  state_.display.Detail(fmt::format("{} ended: attempt {} of trial {}, {} ({}){}{}", name, attempt, id, Word(next.state),
                                    Word(verdict.outcome), verdict.why.empty() ? "" : ": ", verdict.why));
  state_.schedule.Set(trial, next.state);
  if (IsFinal(next.state)) {
    state_.SetEnded(trial);
    search_.TellEnded();
  }
  if (next.state == TrialState::kPlanned) {
    if (next.retry_after_s) state_.display.Note(name + ": " + verdict.why + "; it is tried again");
    next.retry_after_s ? state_.schedule.Delay(trial, state_.Now() + *next.retry_after_s) : state_.schedule.Leave(trial);
    return;
  }
  if (next.state == TrialState::kInfeasible) state_.SetStates(InferredInfeasible(state_.plan, state_.schedule));
  if (next.state != TrialState::kCompleted) SkipWhatNeverCan();
  if (const auto why = stop_rules_.Ended(next.state, verdict.outcome, state_.Now())) state_.Pause(PauseReason::kFailures, *why);
}

}  // namespace backplane
