#include "batch/batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/shell_argument.hpp"
#include "batch/batch_files.hpp"
#include "batch/batch_state.hpp"
#include "batch/disk_limit.hpp"
#include "batch/job_table.hpp"
#include "batch/launcher.hpp"
#include "batch/leftovers.hpp"
#include "batch/name_watch.hpp"
#include "batch/recover.hpp"
#include "batch/search_driver.hpp"
#include "batch/settler.hpp"
#include "batch/start_check.hpp"
#include "log/log.hpp"
#include "record/plan_file.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

constexpr int kBatchTick_ms = 200;

// The command line that started this process.
std::string CommandLine() {
  std::istringstream words(ReadFile("/proc/self/cmdline").value_or(""));
  std::string line;
  for (std::string word; std::getline(words, word, '\0');) line += (line.empty() ? "" : " ") + ShellArgument(word);
  return line;
}

// Calls the parts of a batch in order.
class Batch {
 public:
  Batch(BatchRequest* request, Engine* engine, ResourcePool* resource_pool)
      : state_(request),
        engine_(*engine),
        jobs_(engine, resource_pool),
        failure_policy_(request->plan.base.experiment.on_failure),
        search_(&state_, resource_pool, [this] { return Tick(); }),
        check_(&state_, engine, resource_pool),
        settler_(&state_, &search_, &failure_policy_),
        launcher_(&state_, engine, resource_pool, &jobs_, &search_, &settler_),
        names_(&state_),
        disk_(request->out, request->plan.base.experiment.max_disk_bytes) {}

  BatchReport Run() {
    const InterruptScope interrupts;  // covers the whole batch, because Ctrl-C may come between two processes
    try {
      return RunToItsEnd();
    } catch (const Interrupted&) {  // while the batch waited for the folder
      state_.report.interrupted = true;
      return state_.report;
    }
  }

 private:
  BatchReport RunToItsEnd() {
    const BatchRequest& request = state_.request;
    const bool makes_room = request.fresh && HasOldResults(request.out) && AnythingRan(request.out);
    if (!Open()) return Report();
    if (makes_room ? !MakeRoom() : Refused()) {
      ThrowIfLost();
      return Report();
    }
    try {
      Session();
    } catch (const std::exception& error) {
      LogToFile(LogLevel::kError, WordsOf(error));
      EndAll();
      if (state_.watch->InPlace()) throw;  // otherwise the lost folder is the cause
    }
    ThrowIfLost();
    return Report();
  }

  void ThrowIfLost() {
    if (!state_.watch->lost()) return;
    state_.display.Clear();
    throw std::runtime_error(state_.watch->Tell());
  }

  // Returns false if a stop came while jobs of an earlier session were being ended. Their attempts stay open in the record.
  bool Open() {
    const std::filesystem::path& out = state_.request.out;
    state_.lock = std::make_unique<OutLock>(out, [this](const std::string& sentence) { state_.display.Note(sentence); });
    state_.session_log.emplace(state_.folder().next_session_log());
    state_.display.Detail("begin: " + CommandLine());
    state_.watch = std::make_unique<FolderWatch>(out, *state_.lock);
    state_.log = std::make_unique<EventLog>(state_.folder().events());
    state_.watch->Watch(state_.folder().events());
    const BatchRecord& record = state_.log->record();
    seq_before_ = record.last_seq;
    // Jobs in a cluster come first: they can still save a checkpoint, and the next steps kill processes.
    const std::string jobs = state_.request.end_jobs ? state_.request.end_jobs(out, record) : "";
    if (!jobs.empty()) state_.display.Note(jobs);
    PassInterrupts();
    if (state_.report.interrupted) return false;
    // If a session recorded its end, its processes have ended.
    const std::string left = record.sessions.empty() || record.sessions.back().ended ? "" : EndLeftovers(out);
    if (!left.empty()) state_.display.Note(left);
    EndOpenAttempts(out, state_.log.get(), &failure_policy_);
    return true;
  }

  // Moves old results only when the first trial is about to start, so a plan that the plugins reject costs no folder. Returns
  // false if they reject it.
  bool MakeRoom() {
    std::vector<size_t> all(state_.plan.trials.size());
    std::iota(all.begin(), all.end(), size_t{0});
    if (!search_.Start({})) return false;
    AskPlugins(all);
    if (state_.stopping() || !check_.MayStart()) return false;
    state_.log.reset(), state_.watch.reset(), state_.session_log.reset(), state_.lock.reset();
    if (const auto moved = MoveAside(state_.request.out)) state_.display.Note("the old results are now in " + moved->string());
    return Open();
  }

  // Returns true if the plan must not run on these results because files of finished trials have changed.
  bool Refused() {
    if (!search_.GoOn()) return true;
    const std::filesystem::path last_plan = state_.folder().plan();
    if (!std::filesystem::exists(last_plan)) return false;
    const std::vector<PlanLine> before = ReadPlanFile(last_plan);
    const BatchRecord& record = state_.log->record();
    const auto changes = state_.request.accept_change ? std::vector<ChangedFile>() : ChangedFiles(before, state_.plan, record);
    if (!changes.empty()) state_.report.refused = FormatChanges(changes);
    if (changes.empty() && !state_.only.any()) SayWhatBeginsAnew(before);
    return !changes.empty();
  }

  void SayWhatBeginsAnew(const std::vector<PlanLine>& before) {
    const std::filesystem::path& out = state_.request.out;
    const auto changes = ChangedUnderStopped(out, before, state_.plan, state_.log->record());
    const auto file_of = [this](const ChangedFile& change) { return FileAt(state_.plan, change); };
    if (!changes.empty()) state_.display.Note(SayBegunAnew(out, changes, file_of));
  }

  void Session() {
    KeepStarts(state_.plan, state_.request.out);
    WriteBatchFiles(state_.request);
    state_.watch->Watch(state_.folder().plan());
    const BatchRecord& record = state_.log->record();
    state_.database =
        std::make_unique<Database>(state_.request.out, PlanLines(state_.plan), record,
                                   [this](const std::string& sentence) { state_.display.Note("warning: " + sentence); });
    TakeOver();
    state_.display.Begin();
    const bool nothing_new = record.last_seq == seq_before_ && !record.sessions.empty() && record.sessions.back().ended;
    if (state_.schedule.waiting() > 0 || !nothing_new || search_.IsAsked()) {
      state_.log->Append(ThisSession(search_.most_trials()));
      const bool taken = CheckBefore() && search_.Begin(check_.direction()) && OpenEngine();
      state_.ForgetEnded();
      if (taken) RunTrials();
      state_.log->Append(SessionEnd{HowItEnded(taken)});
    }
    if (!state_.watch->lost()) state_.display.Show(nullptr, state_.Now(), /*always=*/true);
    state_.display.Clear();
  }

  const char* HowItEnded(bool taken) const {
    if (!state_.report.paused.empty()) return "paused";
    if (state_.report.interrupted) return "interrupted";
    if (state_.watch->lost()) return "folder lost";
    return taken ? "done" : "refused";
  }

  // Brings the states of earlier sessions into the schedule.
  void TakeOver() {
    const BatchRecord& record = state_.log->record();
    std::vector<std::string> damages;
    ChangedStates changes = TakeDamagedBack(state_.request.out, state_.plan, record, state_.names, &damages);
    for (const std::string& damage : damages) state_.display.Note(damage);
    if (!state_.only.any()) {
      const std::string extended = FollowBudgets(state_.request.out, state_.plan, record, &changes);
      if (!extended.empty()) state_.display.Note(extended);
    }
    state_.SetStates(
        OpenSchedule(state_.plan, record, state_.only, failure_policy_, state_.names, std::move(changes), &state_.schedule));
    const std::string others = SayWhatIsNotInThePlan(state_.plan, record);
    if (!others.empty()) state_.display.Note(others);
  }

  void AskPlugins(const std::vector<size_t>& trials) {
    check_.Ask(trials, search_.IsAsked());
    PassInterrupts();
  }

  bool CheckBefore() {
    PassInterrupts();
    if (state_.stopping()) return false;
    if (!check_.asked()) AskPlugins(Untried(state_.request.out, state_.plan, state_.schedule, state_.log->record()));
    if (state_.stopping() || !check_.MayStart()) return false;
    if (search_.IsAsked()) return true;  // only probes were checked; a rejected trial reports its own error
    state_.SetStates(check_.LeaveRefused());
    settler_.SkipWhatNeverCan();
    return true;
  }

  bool OpenEngine() {
    if (state_.schedule.waiting() == 0 && !search_.IsAsked()) return true;
    state_.report.no_engine = engine_.Open([this] {
      RecordCluster();
      state_.display.Show(nullptr, state_.Now());
    });
    RecordCluster();
    PassInterrupts();
    return state_.report.no_engine.empty();
  }

  // The cluster's jobs, the places of the attempts, and the reason why some wait.
  void RecordCluster() {
    std::vector<EventLog::Entry> entries;
    for (const EngineJob& job : engine_.NewJobs()) entries.push_back({job, "", 0});
    for (const JobTable::Move& move : jobs_.TakeMoves())
      entries.push_back({move.to, state_.plan.trials[move.trial].id, move.attempt});
    if (const std::string why = engine_.WhyWaiting(); why != waits_for_) {
      entries.push_back({EngineWait{why}, "", 0});
      waits_for_ = why;
      const bool is_shown = state_.plan.trials.size() > 1;  // by the table
      if (!why.empty() && !is_shown) state_.display.Note("waiting for a node: " + why);
    }
    if (!entries.empty()) state_.log->Append(entries);
  }

  void RunTrials() {
    for (;;) {
      LookAtDisk();
      launcher_.Launch();
      if (jobs_.empty() && ended_meanwhile_.empty() && (state_.stopping() || state_.schedule.waiting() == 0)) return;
      std::vector<JobTable::Ended> ended = std::exchange(ended_meanwhile_, {});
      for (JobTable::Ended& one : jobs_.Wait(ended.empty() ? kBatchTick_ms : 0)) ended.push_back(std::move(one));
      LookAfterFolder();
      if (!state_.watch->lost()) RecordCluster();
      for (const JobTable::Ended& one : ended) settler_.Finish(one), names_.Ended(one.job);
      search_.Look(jobs_);
      const bool any_ended = !ended.empty();
      ended.clear();  // releases the locks of the trials' folders before a retry takes them
      PassInterrupts();
      if (state_.watch->lost()) continue;  // the folder's name leads elsewhere now
      if (any_ended) launcher_.Launch();   // starts trials on free cores before the tables are updated
      if (any_ended) state_.UpdateDatabase();
      names_.Look(jobs_);
      ShowRunning();
    }
  }

  void ShowRunning() {
    const JobTable::Job* only = jobs_.Only();
    const bool has_status = only != nullptr && only->attempt->last().has_value();
    state_.display.Show(has_status ? &*only->attempt->last() : nullptr, state_.Now());
  }

  // Checks hangs, limits and Ctrl-C while a search computes its reply. Keeps the jobs that end meanwhile, so that messages to
  // the search keep their order. Returns false if the search should not wait for the reply.
  bool Tick() {
    for (JobTable::Ended& one : jobs_.Wait(0)) ended_meanwhile_.push_back(std::move(one));
    LookAfterFolder();
    PassInterrupts();
    if (!jobs_.empty() && !state_.watch->lost()) ShowRunning();
    return !state_.report.interrupted && !state_.watch->lost();
  }

  // The first Ctrl-C asks trials to end, the second kills them.
  void PassInterrupts() {
    const int count = InterruptScope::Count();
    if (count == state_.interrupts) return;
    const bool first = std::exchange(state_.interrupts, count) == 0;
    state_.report.interrupted = true;
    jobs_.StopAll(count >= 2 ? StopHow::kKill : StopHow::kAsk);  // first, because the terminal may be blocked
    state_.display.Detail(fmt::format("asked to stop, {}", first ? "for the first time" : "again"));
    if (!first || jobs_.empty()) return;
    const auto& unsaved = check_.unsaved();
    state_.display.Note(fmt::format(
        "stopping after this step, {}; Ctrl-C again ends it immediately",
        unsaved.empty() ? "with a checkpoint" : fmt::format("without a checkpoint of {}", fmt::join(unsaved, ", "))));
    if (!state_.request.quiet) InterruptScope::Acknowledge();
  }

  // If the results folder is moved, deleted or replaced, starts no more trials and asks the running ones to end.
  void LookAfterFolder() {
    const auto in_place = [this](const JobTable::Job& job) { return state_.watch->InPlace(job.attempt->trial()); };
    if (asked_to_leave_ || (state_.watch->InPlace() && jobs_.All(in_place))) return;
    asked_to_leave_ = true;
    jobs_.StopAll(StopHow::kAsk);
  }

  void LookAtDisk() {
    const std::optional<std::string> why = state_.stopping() ? std::nullopt : disk_.Exceeded();
    if (!why) return;
    state_.Pause(PauseReason::kDisk, *why);
    jobs_.StopAll(StopHow::kAsk);
  }

  // Called when the batch can no longer write its records. Running trials still save their state, and the next session finds
  // it.
  void EndAll() {
    jobs_.StopAll(StopHow::kAsk);
    while (!jobs_.empty()) {
      jobs_.Wait(kBatchTick_ms);
      PassInterrupts();
    }
    state_.display.Clear();
  }

  BatchReport Report() {
    state_.FillReport();
    BatchReport& report = state_.report;
    report.interrupted =
        report.interrupted && (report.while_checking || report.Count(TrialState::kPlanned) > 0 || search_.IsAsked());
    state_.display.Detail(fmt::format("end: {} of {} trials completed, {} attempts in {:.1f} s{}",
                                      report.Count(TrialState::kCompleted), report.trials.size(), report.started, state_.Now(),
                                      report.interrupted ? ", interrupted" : ""));
    report.lock = std::move(state_.lock);
    return report;
  }

  BatchState state_;
  Engine& engine_;
  JobTable jobs_;
  FailurePolicy failure_policy_;
  SearchDriver search_;
  StartCheck check_;
  Settler settler_;
  Launcher launcher_;
  NameWatch names_;
  DiskLimit disk_;
  std::vector<JobTable::Ended> ended_meanwhile_;  // while a search computed a reply
  uint64_t seq_before_ = 0;                       // the newest event of earlier sessions
  bool asked_to_leave_ = false;                   // running trials, because the folder was lost
  std::string waits_for_;                         // as recorded
};

}  // namespace

size_t BatchReport::Count(TrialState state) const {
  return static_cast<size_t>(
      std::count_if(trials.begin(), trials.end(), [&](const Trial& trial) { return trial.state == state; }));
}

BatchReport RunBatch(BatchRequest* request, Engine* engine, ResourcePool* resource_pool) {
  return Batch(request, engine, resource_pool).Run();
}

}  // namespace backplane
