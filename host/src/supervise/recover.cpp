#include "supervise/recover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "record/attempt_files.hpp"
#include "record/attempt_json.hpp"
#include "record/trial_result.hpp"
#include "supervise/layout.hpp"

namespace backplane {
namespace {

constexpr char kStale[] = "the supervisor ended before the trial did";

// What stands in result.json of an attempt that left none.
struct StaleResult {
  int schema = kTrialSchema;
  std::string trial_id;
  unsigned attempt = 0;
  TrialState state = TrialState::kKilled;
  Outcome outcome = Outcome::kStale;
  std::string error = kStale;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema", self.schema);
    visit("trial_id", self.trial_id);
    visit("attempt", self.attempt);
    visit("state", self.state);
    visit("outcome", self.outcome);
    visit("error", self.error);
  }
};

// What was written; absent where there is no folder for it.
std::optional<std::string> WriteStaleResult(const AttemptFolder& folder, const std::string& trial_id, unsigned attempt) {
  if (!std::filesystem::exists(folder.folder)) return std::nullopt;
  StaleResult stale;
  stale.trial_id = trial_id;
  stale.attempt = attempt;
  std::string text = ToJson(stale).dump(kJsonIndent);
  ReplaceFile(folder.result(), text);
  return text;
}

void EndOpenAttempt(const std::filesystem::path& out, const std::string& trial_id, unsigned attempt, EventLog* log,
                    FailurePolicy* failure_policy) {
  const AttemptFolder folder = TrialFolderOf(out, trial_id).attempt(attempt);
  const std::optional<std::string> text = ReadResultText(folder.result()).text;
  const auto json = text ? ParseResultJson(*text) : std::nullopt;
  AttemptEnd end;
  if (!json) {
    end.outcome = Outcome::kStale;
    end.why = kStale;
    end.files = FilesOf(folder, WriteStaleResult(folder, trial_id, attempt), nullptr);
    return log->Append(end, trial_id, attempt);
  }
  const TrialResult result = ReadTolerantly<TrialResult>(*json);
  AttemptVerdict verdict;
  verdict.outcome = result.outcome.value_or(Outcome::kPlugin);
  verdict.state = result.state.value_or(TrialState::kFailed);
  verdict.why = result.error.value_or("");
  verdict.on_device = result.on_device;
  // The trial may have been killed while it brought this to the disk, and the event will say that it is there.
  if (IsFinished(verdict.state)) WriteFileAtomic(folder.result(), *text);
  end.adopted = true;
  end.outcome = verdict.outcome;
  end.state = failure_policy->After(trial_id, verdict).state;
  end.why = verdict.why;
  end.wall_s = result.wall_s;
  end.files = FilesOf(folder, text, *json);
  log->Append(end, trial_id, attempt);
}

bool Finished(const BatchRecord& record, const std::string& trial_id) {
  const TrialRecord* trial = record.Find(trial_id);
  return trial != nullptr && IsFinished(trial->state);
}

}  // namespace

void EndOpenAttempts(const std::filesystem::path& out, EventLog* log, FailurePolicy* failure_policy) {
  std::vector<std::pair<std::string, unsigned>> open;
  for (const auto& [id, trial] : log->record().trials) {
    for (const AttemptRecord& attempt : trial.attempts) {
      if (!attempt.ended) open.emplace_back(id, attempt.number);
    }
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials(), error)) {
    const std::string id = entry.path().filename().string();
    if (log->record().Find(id) != nullptr) continue;
    const TrialFolder folder = TrialFolderOf(out, id);
    const unsigned last = folder.LastAttempt();
    const auto state = last > 0 ? ReadResult(folder.attempt(last)).state : std::nullopt;
    if (state && IsFinished(*state)) open.emplace_back(id, last);
  }
  for (const auto& [id, attempt] : open) EndOpenAttempt(out, id, attempt, log, failure_policy);
}

bool MeantByOnlyFailed(const TrialRecord& trial, const std::set<std::string>& classes) {
  const auto meant = [&](const std::optional<Outcome>& outcome) { return classes.empty() || classes.contains(Word(outcome)); };
  if (trial.state == TrialState::kFailed) return meant(trial.outcome);
  if (trial.state != TrialState::kPlanned) return false;
  return std::any_of(trial.attempts.begin(), trial.attempts.end(), [&](const AttemptRecord& attempt) {
    const std::optional<Outcome>& outcome = attempt.end.outcome;
    return attempt.ended && outcome != Outcome::kOk && outcome != Outcome::kKilled && outcome != Outcome::kStale &&
           meant(outcome);
  });
}

bool MeantByOnlyDamaged(const TrialRecord& trial) {
  return !IsFinished(trial.state) &&
         std::any_of(trial.attempts.begin(), trial.attempts.end(), [](const AttemptRecord& attempt) {
           return attempt.end.outcome == Outcome::kOk || attempt.end.outcome == Outcome::kPruned;
         });
}

void SetCheckpointAside(const TrialFolder& folder) {
  if (!std::filesystem::exists(folder.checkpoint())) return;
  // The number of the attempt that begins anew: no two have the same.
  std::filesystem::rename(folder.checkpoint(), folder.checkpoint_before(folder.LastAttempt() + 1));
  SyncFolder(folder.folder);
}

std::vector<ChangedFile> ChangedFiles(const std::vector<PlanLine>& before, const Plan& now, const BatchRecord& record) {
  using Key = std::pair<std::string, uint64_t>;  // point, seed
  std::map<Key, const PlannedTrial*> wanted;
  for (const PlannedTrial& trial : now.trials) wanted[{now.points[trial.point].id, trial.seed}] = &trial;
  std::map<std::string, ChangedFile> changes;
  for (const PlanLine& line : before) {
    const auto found = line.dropped ? wanted.end() : wanted.find({line.point_id, line.seed});
    if (found == wanted.end() || found->second->id == line.trial_id) continue;
    // Nothing is lost where nothing was finished, or where the new content was run before.
    if (!Finished(record, line.trial_id) || Finished(record, found->second->id)) continue;
    for (const auto& [key, hash] : found->second->files) {
      const auto old = line.files.find(key);
      if (old == line.files.end() || old->second == hash) continue;
      ChangedFile& change = changes[key];
      change.key = key;
      change.before = old->second;
      change.now = hash;
      change.trials.push_back(line.trial_id);
    }
  }
  std::vector<ChangedFile> list;
  for (auto& [key, change] : changes) list.push_back(std::move(change));
  return list;
}

std::string FormatChanges(const std::vector<ChangedFile>& changes) {
  constexpr size_t kShownDigits = 12;
  std::string text = "files changed since these results were made:\n";
  for (const ChangedFile& change : changes) {
    text += fmt::format("  {:<32} was {}, is {}: {} finished {} (first: {})\n", change.key,
                        change.before.substr(0, kShownDigits), change.now.substr(0, kShownDigits), change.trials.size(),
                        change.trials.size() == 1 ? "trial" : "trials", change.trials.front());
  }
  return text +
         "nothing was started. --fresh moves the old results away and starts anew;\n"
         "`run --accept-change` runs these trials again with the new files and keeps the old rows in the store\n";
}

}  // namespace backplane
