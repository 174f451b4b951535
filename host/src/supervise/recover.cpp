#include "supervise/recover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "store/attempt_files.hpp"
#include "store/attempt_json.hpp"
#include "supervise/layout.hpp"
#include "trial/contract.hpp"

namespace backplane {
namespace {

constexpr char kStale[] = "the supervisor ended before the trial did";

// What was written; absent where there is no folder for it.
std::optional<std::string> WriteStaleResult(const TrialFolder& folder, const std::string& trial_id, unsigned attempt) {
  if (!std::filesystem::exists(folder.attempt(attempt))) return std::nullopt;
  const std::string text = nlohmann::json{{"schema", kTrialSchema}, {"trial_id", trial_id}, {"attempt", attempt},
                                          {"state", "KILLED"},      {"outcome", "stale"},   {"error", kStale}}
                               .dump(kJsonIndent);
  ReplaceFile(folder.attempt(attempt) / "result.json", text);
  return text;
}

void EndOpenAttempt(const std::filesystem::path& out, const std::string& trial_id, unsigned attempt, EventLog* log,
                    Consequences* consequences) {
  const TrialFolder folder = TrialFolderOf(out, trial_id);
  const std::filesystem::path dir = folder.attempt(attempt);
  const std::optional<std::string> text = ReadResultText(dir / "result.json").text;
  const auto result = text ? ParseResultJson(*text) : std::nullopt;
  if (!result) {
    const auto written = WriteStaleResult(folder, trial_id, attempt);
    log->Append(
        "attempt.end", trial_id, attempt,
        {{"outcome", "stale"}, {"state", "PLANNED"}, {"why", kStale}, {"files", ToJson(FilesOf(dir, written, nullptr))}});
    return;
  }
  Verdict verdict;
  verdict.outcome = Text(At(*result, "outcome"), "plugin");
  verdict.state = Text(At(*result, "state"), "FAILED");
  verdict.why = Text(At(*result, "error"));
  verdict.on_device = At(*result, "on_device") == true;
  // The trial may have been killed while it brought this to the disk, and the event will say that it is there.
  if (IsFinishedState(verdict.state)) WriteFileAtomic(dir / "result.json", *text);
  log->Append("attempt.end", trial_id, attempt,
              {{"outcome", verdict.outcome},
               {"state", consequences->After(trial_id, verdict).state},
               {"why", verdict.why},
               {"wall_s", At(*result, "wall_s")},
               {"files", ToJson(FilesOf(dir, text, *result))},
               {"adopted", true}});
}

bool Finished(const BatchRecord& record, const std::string& trial_id) {
  const TrialRecord* trial = record.Find(trial_id);
  return trial != nullptr && IsFinishedState(trial->state);
}

}  // namespace

void EndOpenAttempts(const std::filesystem::path& out, EventLog* log, Consequences* consequences) {
  std::vector<std::pair<std::string, unsigned>> open;
  for (const auto& [id, trial] : log->record().trials) {
    for (const AttemptRecord& attempt : trial.attempts) {
      if (!attempt.ended) open.emplace_back(id, attempt.number);
    }
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(out / "trials", error)) {
    const std::string id = entry.path().filename().string();
    if (log->record().Find(id) != nullptr) continue;
    const unsigned last = TrialFolderOf(out, id).LastAttempt();
    const auto result = last > 0 ? ReadResultJson(TrialFolderOf(out, id).attempt(last) / "result.json") : std::nullopt;
    if (result && IsFinishedState(Text(At(*result, "state")))) open.emplace_back(id, last);
  }
  for (const auto& [id, attempt] : open) EndOpenAttempt(out, id, attempt, log, consequences);
}

std::vector<Inferred> InferInfeasible(const Plan& plan, const Schedule& schedule) {
  std::vector<Inferred> inferred;
  std::set<size_t> known;
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    if (schedule.state(i) != "INFEASIBLE") continue;
    for (const size_t other : schedule.NeedAsMuchAs(i)) {
      if (known.insert(other).second) inferred.push_back({other, i});
    }
  }
  return inferred;
}

bool MeantByOnlyFailed(const TrialRecord& trial, const std::set<std::string>& classes) {
  const auto meant = [&](const std::string& outcome) { return classes.empty() || classes.contains(outcome); };
  if (trial.state == "FAILED") return meant(trial.outcome);
  if (trial.state != "PLANNED") return false;
  return std::any_of(trial.attempts.begin(), trial.attempts.end(), [&](const AttemptRecord& attempt) {
    return attempt.ended && attempt.outcome != "ok" && attempt.outcome != "killed" && attempt.outcome != "stale" &&
           meant(attempt.outcome);
  });
}

bool MeantByOnlyDamaged(const TrialRecord& trial) {
  return !IsFinishedState(trial.state) &&
         std::any_of(trial.attempts.begin(), trial.attempts.end(),
                     [](const AttemptRecord& attempt) { return attempt.outcome == "ok" || attempt.outcome == "pruned"; });
}

void SetCheckpointAside(const TrialFolder& folder) {
  if (!std::filesystem::exists(folder.checkpoint())) return;
  // The number of the attempt that begins anew: no two have the same.
  const std::string name = "checkpoint.before-attempt-" + std::to_string(folder.LastAttempt() + 1);
  std::filesystem::rename(folder.checkpoint(), folder.folder / name);
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
         "nothing was started. --accept-change runs these trials again with the new files and keeps the old rows in the "
         "store;\n"
         "--fresh moves the old results away and starts anew\n";
}

}  // namespace backplane
