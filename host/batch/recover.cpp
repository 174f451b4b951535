#include "batch/recover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "contract/checkpoint_files.hpp"
#include "record/attempt_files.hpp"
#include "record/attempt_json.hpp"
#include "record/trial_result.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

constexpr size_t kShownDigits = 12;  // digits of a SHA-256
constexpr char kStale[] = "the supervisor ended before the trial did";

// The result.json of an attempt that left none.
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

// Returns the written text; absent if the attempt has no folder.
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
  if (result.until && verdict.outcome == Outcome::kOk) verdict.why = result.until->Sentence();
  verdict.on_device = result.on_device;
  // The trial may have been killed before it flushed the result, and the event will record that it exists.
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

// The old and new hash of each file that differs. Empty: no such file.
std::vector<ChangedFile> DifferentFiles(const std::map<std::string, std::string>& before,
                                        const std::map<std::string, std::string>& now) {
  std::map<std::string, ChangedFile> files;
  for (const auto& [key, hash] : before) files[key].before = hash;
  for (const auto& [key, hash] : now) files[key].now = hash;
  std::vector<ChangedFile> different;
  for (auto& [key, file] : files) {
    file.key = key;
    if (file.before != file.now) different.push_back(std::move(file));
  }
  return different;
}

// The texts of a command's options. Older versions passed and recorded only their values.
std::vector<ChangedFile> ChangedTexts(const Experiment& experiment) {
  std::vector<ChangedFile> changes;
  for (const auto& [name, text] : experiment.command.written.items()) {
    const std::string value = JsonText(experiment.learner.options.at(name));
    changes.push_back({.key = "learner.options." + name, .before = value, .now = text.get<std::string>(), .is_text = true});
  }
  return changes;
}

// Files whose content differs from `before`, with the affected trials. `concerns` selects trials by their old id and the id of
// their successor.
template <class Concerns>
std::vector<ChangedFile> ChangedUnder(const std::vector<PlanLine>& before, const Plan& now, Concerns&& concerns) {
  using Key = std::pair<std::string, uint64_t>;  // point, seed
  std::map<Key, size_t> wanted;
  for (size_t i = 0; i < now.trials.size(); ++i) wanted[{now.points[now.trials[i].point].id, now.trials[i].seed}] = i;
  for (size_t i = 0; i < now.trials.size(); ++i) {
    const std::string& plain_id = now.points[now.trials[i].point].plain_id;
    if (!plain_id.empty()) wanted.try_emplace({plain_id, now.trials[i].seed}, i);
  }
  std::map<std::string, ChangedFile> changes;
  for (const PlanLine& line : before) {
    const auto found = line.dropped ? wanted.end() : wanted.find({line.point_id, line.seed});
    if (found == wanted.end()) continue;
    const PlannedTrial& its_place = now.trials[found->second];
    if (its_place.id == line.trial_id || !concerns(line.trial_id, its_place.id)) continue;
    std::vector<ChangedFile> different = DifferentFiles(line.files, its_place.files);
    if (line.point_id == now.points[its_place.point].plain_id)
      for (ChangedFile& text : ChangedTexts(now.ExperimentOf(its_place.point))) different.push_back(std::move(text));
    for (ChangedFile& change : different) {
      change.planned = found->second;
      changes.try_emplace(change.key, change).first->second.trials.push_back(line.trial_id);
    }
  }
  std::vector<ChangedFile> list;
  for (auto& [key, change] : changes) list.push_back(std::move(change));
  return list;
}

}  // namespace

bool AnythingRan(const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  std::error_code error;
  const auto trials = std::filesystem::directory_iterator(folder.trials(), error);
  if (!error && trials != std::filesystem::directory_iterator()) return true;
  const BatchRecord record = ReadBatchRecord(folder.events());
  return !record.trials.empty() || !record.search.suggestions.empty();
}

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

bool MeantByOnlyPruned(const TrialRecord& trial) {
  if (trial.state == TrialState::kPruned) return true;
  return trial.state == TrialState::kPlanned &&
         std::any_of(trial.attempts.begin(), trial.attempts.end(),
                     [](const AttemptRecord& attempt) { return attempt.end.outcome == Outcome::kPruned; });
}

bool MeantByOnlyDamaged(const TrialRecord& trial) {
  return !IsFinished(trial.state) && trial.reason != StateReason::kExtended &&
         std::any_of(trial.attempts.begin(), trial.attempts.end(), [](const AttemptRecord& attempt) {
           return attempt.end.outcome == Outcome::kOk || attempt.end.outcome == Outcome::kPruned;
         });
}

void SetCheckpointAside(const TrialFolder& folder) {
  if (!std::filesystem::exists(folder.checkpoint())) return;
  // The number of the next attempt, which starts from scratch, is unique.
  std::filesystem::rename(folder.checkpoint(), folder.checkpoint_before(folder.LastAttempt() + 1));
  SyncFolder(folder.folder);
}

std::vector<ChangedFile> ChangedFiles(const std::vector<PlanLine>& before, const Plan& now, const BatchRecord& record) {
  return ChangedUnder(before, now, [&](const std::string& old, const std::string& its_place) {
    // No work is lost if no trial has finished, or if the new content was run before.
    return Finished(record, old) && !Finished(record, its_place);
  });
}

std::vector<ChangedFile> ChangedUnderStopped(const std::filesystem::path& out, const std::vector<PlanLine>& before,
                                             const Plan& now, const BatchRecord& record) {
  return ChangedUnder(before, now, [&](const std::string& old, const std::string& its_place) {
    const TrialRecord* const trial = record.Find(old);
    return trial != nullptr && !IsFinal(trial->state) && HasCheckpoint(TrialFolderOf(out, old).checkpoint()) &&
           record.Find(its_place) == nullptr;
  });
}

std::string FormatChanges(const std::vector<ChangedFile>& changes) {
  bool any_unrecorded = false, any_text = false;
  std::string text;
  for (const ChangedFile& change : changes) {
    any_text = any_text || change.is_text;
    any_unrecorded = any_unrecorded || change.before.empty();
    text += fmt::format("  {:<32} was {}, is {}: {} finished {} (first: {})\n", change.key,
                        change.before.empty() ? "not recorded" : change.before.substr(0, kShownDigits),
                        change.now.empty() ? "gone" : change.now.substr(0, kShownDigits), change.trials.size(),
                        change.trials.size() == 1 ? "trial" : "trials", change.trials.front());
  }
  if (any_unrecorded)
    text +=
        "a file 'not recorded' is new, or an older version of Backplane did not record it;\n"
        "Backplane notices its changes from now on\n";
  if (any_text)
    text +=
        "a command gets the text of an option as written in the file; an older version passed the value;\nto keep these "
        "results, write the old value in the file\n";
  return fmt::format("{} changed since these results were made:\n", any_text ? "options" : "files") + text +
         "no trial was started\n"
         "hint: --fresh moves the old results aside and starts from scratch;\n"
         "--accept-change runs these trials again with the new files and keeps their old results in OUT/results.sqlite\n";
}

std::string FileAt(const Plan& plan, const ChangedFile& change) {
  const LoadedExperiment loaded = plan.Load(plan.trials[change.planned]);
  if (change.key == "env.plugin") return loaded.env->file.string();
  return change.key == "learner.plugin" ? loaded.learner->file.string() : "";
}

std::string SayBegunAnew(const std::filesystem::path& out, const std::vector<ChangedFile>& changes,
                         const std::function<std::string(const ChangedFile&)>& file_of) {
  std::set<std::string> trials;
  std::vector<std::string> files, contents;
  for (const ChangedFile& change : changes) {
    trials.insert(change.trials.begin(), change.trials.end());
    const std::string file = file_of(change);
    files.push_back(change.key + (file.empty() ? "" : " (" + file + ")"));
    if (!change.before.empty() && !change.is_text) contents.push_back(change.before.substr(0, kShownDigits));
  }
  if (contents.empty())
    return fmt::format(
        "{} {} not recorded when {} stopped, so new trials start from scratch; the old ones stay in {} (first: {})",
        fmt::join(files, " and "), files.size() == 1 ? "was" : "were",
        trials.size() == 1 ? "a trial was" : fmt::format("{} trials were", trials.size()), ResultsFolder{out}.trials().string(),
        changes.front().trials.front());
  const std::string what =
      fmt::format("the file{} of SHA-256 {}", contents.size() == 1 ? "" : "s", fmt::join(contents, " and "));
  if (trials.size() == 1)
    return fmt::format(
        "{} changed since a trial was stopped, so a new trial starts from scratch; the old one stays in {}; "
        "to resume it, restore {} and repeat the command, with --accept-change after the new one has ended",
        fmt::join(files, " and "), TrialFolderOf(out, *trials.begin()).folder.string(), what);
  return fmt::format(
      "{} changed since {} trials were stopped, so new trials start from scratch; the old ones stay in {} (first: {}); "
      "to resume them, restore {} and repeat the command, with --accept-change after new ones have ended",
      fmt::join(files, " and "), trials.size(), ResultsFolder{out}.trials().string(), changes.front().trials.front(), what);
}

}  // namespace backplane
