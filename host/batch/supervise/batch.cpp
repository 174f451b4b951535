#include "supervise/batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/shell_argument.hpp"
#include "log/log.hpp"
#include "record/attempt_json.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/warning_text.hpp"
#include "store/database.hpp"
#include "store/event_log.hpp"
#include "supervise/attempt.hpp"
#include "supervise/batch_display.hpp"
#include "supervise/batch_files.hpp"
#include "supervise/batch_search.hpp"
#include "supervise/failure_policy.hpp"
#include "supervise/folder_watch.hpp"
#include "supervise/job_table.hpp"
#include "supervise/layout.hpp"
#include "supervise/leftovers.hpp"
#include "supervise/recover.hpp"
#include "supervise/schedule.hpp"
#include "supervise/take_over.hpp"
#include "supervise/version_watch.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatchTick_ms = 200;
// As this process was started.
std::string CommandLine() {
  std::istringstream words(ReadFile("/proc/self/cmdline").value_or(""));
  std::string line;
  for (std::string word; std::getline(words, word, '\0');) line += (line.empty() ? "" : " ") + ShellArgument(word);
  return line;
}

class Batch {
 public:
  Batch(BatchRequest& request, Engine* engine, ResourcePool* resource_pool)
      : request_(request),
        plan_(request.plan),
        resource_pool_(*resource_pool),
        engine_(engine),
        jobs_(engine, resource_pool),
        schedule_(plan_),
        failure_policy_(plan_.base.experiment.on_failure),
        search_(plan_.search ? std::make_unique<BatchSearch>(&plan_, request.out) : nullptr),
        stop_rules_(plan_.base.experiment.stop_sweep, search_ ? search_->most_searched() : plan_.trials.size()),
        display_(request),
        names_(DisplayNames(plan_)) {
    report_.trials.resize(plan_.trials.size());
  }

  BatchReport Run() {
    const InterruptScope interrupts;  // over checks and trials: a Ctrl-C between two processes counts
    try {
      return RunToItsEnd();
    } catch (const Interrupted&) {  // while it waited for the folder
      report_.interrupted = true;
      return report_;
    }
  }

 private:
  BatchReport RunToItsEnd() {
    const bool makes_room = request_.fresh && HasOldResults(request_.out) && AnythingRan(request_.out);
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
      if (watch_->InPlace()) throw;  // otherwise that is the reason, and the words of what failed mislead
    }
    ThrowIfLost();
    return Report();
  }

  void ThrowIfLost() {
    if (!watch_->lost()) return;
    display_.Clear();
    throw std::runtime_error(watch_->Tell());
  }

  double Now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  TrialFolder FolderOf(size_t trial) const { return TrialFolderOf(request_.out, plan_.trials[trial].id); }
  const TrialRecord* RecordOf(size_t trial) const { return log_->record().Find(plan_.trials[trial].id); }
  bool stopping() const { return report_.interrupted || !report_.paused.empty() || watch_->lost(); }

  // False: a stop came while jobs of an earlier session were being ended; their attempts stay open in the record.
  bool Open() {
    lock_ = std::make_unique<OutLock>(request_.out, [this](const std::string& sentence) { display_.Note(sentence); });
    session_log_.emplace(ResultsFolder{request_.out}.next_session_log());
    display_.Detail("begin: " + CommandLine());
    watch_ = std::make_unique<FolderWatch>(request_.out, *lock_);
    log_ = std::make_unique<EventLog>(ResultsFolder{request_.out}.events());
    watch_->Watch(ResultsFolder{request_.out}.events());
    seq_before_ = log_->record().last_seq;
    // First, as what follows kills: these may save themselves.
    if (const std::string jobs = request_.end_jobs ? request_.end_jobs(request_.out, log_->record()) : ""; !jobs.empty())
      display_.Note(jobs);
    PassInterrupts();
    if (report_.interrupted) return false;
    // Where the last session came to its end, so did its processes.
    const auto& sessions = log_->record().sessions;
    const std::string left = sessions.empty() || sessions.back().ended ? "" : EndLeftovers(request_.out);
    if (!left.empty()) display_.Note(left);
    EndOpenAttempts(request_.out, log_.get(), &failure_policy_);
    return true;
  }

  // Old results are moved when the first trial is about to start: what the plugins refuse costs nobody a folder. False: they
  // do, and everything is where it was.
  bool MakeRoom() {
    std::vector<size_t> all(plan_.trials.size());
    std::iota(all.begin(), all.end(), size_t{0});
    if (!StartSearch({})) return false;
    AskPlugins(all);
    if (stopping() || !MayStart()) return false;
    log_.reset(), watch_.reset(), session_log_.reset(), lock_.reset();
    if (const auto moved = MoveAside(request_.out)) display_.Note("the old results are now in " + moved->string());
    return Open();
  }

  // True: the plan must not run on these results, because files changed under finished trials.
  bool Refused() {
    if (!GoOnWithSearch()) return true;
    const std::filesystem::path last_plan = ResultsFolder{request_.out}.plan();
    if (!std::filesystem::exists(last_plan)) return false;
    const std::vector<PlanLine> before = ReadPlanFile(last_plan);
    const auto changes = request_.accept_change ? std::vector<ChangedFile>() : ChangedFiles(before, plan_, log_->record());
    if (!changes.empty()) report_.refused = FormatChanges(changes);
    if (changes.empty() && !OnlySome()) SayWhatBeginsAnew(before);
    return !changes.empty();
  }

  void SayWhatBeginsAnew(const std::vector<PlanLine>& before) {
    const auto changes = ChangedUnderStopped(request_.out, before, plan_, log_->record());
    const auto file_of = [this](const ChangedFile& change) { return FileAt(plan_, change); };
    if (!changes.empty()) display_.Note(SayBegunAnew(request_.out, changes, file_of));
  }

  void Session() {
    WriteBatchFiles(request_);
    watch_->Watch(ResultsFolder{request_.out}.plan());
    database_ = std::make_unique<Database>(request_.out, PlanLines(plan_), log_->record(),
                                           [this](const std::string& sentence) { display_.Note("warning: " + sentence); });
    TakeOver();
    display_.Begin();
    const auto& sessions = log_->record().sessions;
    const bool nothing_new = log_->record().last_seq == seq_before_ && !sessions.empty() && sessions.back().ended;
    if (schedule_.waiting() > 0 || !nothing_new || Searches()) {
      log_->Append(ThisSession(search_ ? search_->most_trials() : plan_.trials.size()));
      const bool taken = CheckBefore() && BeginSearch() && OpenEngine();
      LetGoOfEnded();
      if (taken) RunTrials();
      log_->Append(SessionEnd{!report_.paused.empty() ? "paused"
                              : report_.interrupted   ? "interrupted"
                              : watch_->lost()        ? "folder lost"
                              : taken                 ? "done"
                                                      : "refused"});
    }
    if (!watch_->lost()) display_.Show(nullptr, Now(), /*always=*/true);
    display_.Clear();
  }

  // Brings the states of earlier sessions into the schedule.
  void TakeOver() {
    std::vector<std::string> damages;
    SetStates(TakeDamagedBack(request_.out, plan_, log_->record(), names_, &damages));
    for (const std::string& damage : damages) display_.Note(damage);
    ChangedStates can_start;
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const TrialRecord* record = RecordOf(i);
      if (record != nullptr) schedule_.Set(i, record->state);
      // What it starts from may have been run again since.
      const bool again = record != nullptr && record->reason == StateReason::kLostStart && !schedule_.LostItsStart(i);
      if (!OnlySome()) {
        if (again)
          can_start.push_back({i, {TrialState::kPlanned, "the stage before it is run again", StateReason::kStartAgain}});
        if (record != nullptr && failure_policy_.MayPassByNow(*record)) {
          can_start.push_back({i, {TrialState::kPlanned, "tried again: " + record->why, StateReason::kTriedAgain}});
          schedule_.Set(i, TrialState::kPlanned);  // at once, for those that start from it
        }
        continue;
      }
      // In the events it stays failed until it starts: if this session ends before that, the same command still means it.
      if (again || (record != nullptr && Meant(*record))) {
        schedule_.Set(i, TrialState::kPlanned);
      } else {
        schedule_.Leave(i);
      }
    }
    SetStates(can_start);
    Infer();
    SkipWhatNeverCan();
    const std::string others = SayWhatIsNotInThePlan(plan_, log_->record());
    if (!others.empty()) display_.Note(others);
  }

  bool OnlySome() const { return request_.only_failed || request_.only_damaged || request_.only_pruned; }
  bool Meant(const TrialRecord& record) const {
    if (request_.only_pruned) return MeantByOnlyPruned(record);
    return request_.only_failed ? MeantByOnlyFailed(record, *request_.only_failed) : MeantByOnlyDamaged(record);
  }

  void Infer() { SetStates(InferredInfeasible(plan_, schedule_)); }
  void SkipWhatNeverCan() { SetStates(NeverStarting(plan_, schedule_, names_)); }

  // A state that no attempt brought about, with its reason.
  void SetStates(const ChangedStates& trials) {
    if (trials.empty()) return;
    std::vector<EventLog::Entry> entries;
    for (const auto& [trial, change] : trials) entries.push_back({change, plan_.trials[trial].id});
    log_->Append(entries);
    for (const auto& [trial, change] : trials) {
      schedule_.Set(trial, change.state);
      if (IsFinal(change.state)) ended_.push_back(trial);
    }
    TellDatabase();
  }

  void TellDatabase() {
    database_->Update(log_->record());
    for (const size_t trial : ended_) LetGo(trial);
    ended_.clear();
  }

  // Of a trial that is done with, what this session's report says of it is all that stays in memory, however long the batch is.
  void LetGo(size_t trial) {
    const TrialRecord* record = RecordOf(trial);
    if (record == nullptr) return;
    report_.trials[trial] = ToldOf(*record);
    log_->Forget(plan_.trials[trial].id);
  }

  void LetGoOfEnded() {
    for (size_t i = 0; i < plan_.trials.size(); ++i)
      if (IsFinal(schedule_.state(i))) LetGo(i);
  }

  static BatchReport::Trial ToldOf(const TrialRecord& record) {
    return {record.state, record.outcome, record.why, static_cast<unsigned>(record.attempts.size())};
  }

  void AskPlugins(std::vector<size_t> trials) {
    asked_plugins_ = true;
    // Of a search nobody knows yet what will be suggested.
    const Plan& plan = Searches() ? plan_.Checked() : plan_;
    if (Searches()) {
      trials.resize(plan.trials.size());
      std::iota(trials.begin(), trials.end(), size_t{0});
    }
    const auto& here = request_.check_here;
    CheckedOptions checked = CheckOptions(plan, here ? CheckableHere(plan, trials) : trials, PlaceHere(),
                                          here ? here->engine : engine_, here ? here->resource_pool : &resource_pool_);
    for (const std::string& note : checked.notes) LogInfo("note: {}", note);
    for (const std::string& warning : checked.warnings) LogWarning("warning: {}", warning);
    unsaved_ = std::move(checked.unsaved);
    for (const std::string& learner : unsaved_)
      LogInfo("note: {} saves no state: a trial of it that is stopped begins anew", learner);
    for (const FailedCheck& check : checked.failed) display_.Detail("refused before the start: " + check.error);
    report_.checks = std::move(checked.failed);
    if (checked.recorded && request_.check_names) {
      for (FailedCheck& misnamed : request_.check_names(plan, *checked.recorded)) report_.checks.push_back(std::move(misnamed));
    }
    if (Searches() && request_.direction) direction_ = request_.direction(plan, checked.recorded.value_or(RecordedMeasures()));
    report_.while_checking = checked.interrupted;
    PassInterrupts();
  }

  // What asks for more than this machine has is asked by its trial, on a node.
  std::vector<size_t> CheckableHere(const Plan& plan, std::vector<size_t> trials) const {
    std::erase_if(trials, [&](size_t trial) {
      try {
        request_.check_here->resource_pool->Require(plan.Load(plan.trials[trial]).experiment.resources);
        return false;
      } catch (const std::runtime_error&) {
        return true;
      }
    });
    return trials;
  }

  // What the plugins take is all there is to run, or the rest of it is to be run.
  bool MayStart() const { return request_.skip_invalid || report_.checks.empty(); }

  bool CheckBefore() {
    PassInterrupts();
    if (stopping()) return false;
    if (!asked_plugins_) AskPlugins(Untried(request_.out, plan_, schedule_, log_->record()));
    if (stopping() || !MayStart()) return false;
    if (Searches()) return true;  // what was asked stands for others; a trial that is refused tells so itself
    ChangedStates skipped;
    for (const FailedCheck& check : report_.checks) {
      for (const size_t trial : check.trials) {
        if (FitsNever(check))
          skipped.push_back({trial, {TrialState::kSkipped, "refused before the start: " + check.error, {}}});
        schedule_.Leave(trial);
      }
    }
    SetStates(skipped);
    SkipWhatNeverCan();
    return true;
  }

  bool OpenEngine() {
    if (schedule_.waiting() == 0 && !Searches()) return true;
    report_.no_engine = engine_->Open();
    RecordJobs();
    PassInterrupts();
    return report_.no_engine.empty();
  }

  void RecordJobs() {
    for (const EngineJob& job : engine_->NewJobs()) log_->Append(job);
  }

  AttemptPlace PlaceHere() const { return {request_.out, request_.program, request_.torch_lib, lock_->fds(), watch_.get()}; }

  std::unique_ptr<Attempt> Make(size_t trial, LoadedExperiment loaded, const Allocation& allocation) {
    loaded.experiment.resources.device_memory_bytes = resource_pool_.DeviceMemory(loaded.experiment.resources, allocation);
    const PlannedTrial& planned = plan_.trials[trial];
    return std::make_unique<Attempt>(PlaceHere(), loaded, planned.id, plan_.IdBefore(planned), allocation);
  }

  void RunTrials() {
    for (;;) {
      Launch();
      if (jobs_.empty() && ended_meanwhile_.empty() && (stopping() || schedule_.waiting() == 0)) return;
      std::vector<JobTable::Ended> ended = std::exchange(ended_meanwhile_, {});
      for (JobTable::Ended& one : jobs_.Wait(ended.empty() ? kBatchTick_ms : 0)) ended.push_back(std::move(one));
      LookAfterFolder();
      if (!watch_->lost()) RecordJobs();
      for (const JobTable::Ended& one : ended) Finish(one);
      AskSearch([this] { search_->Look(jobs_); });
      const bool any_ended = !ended.empty();
      ended.clear();  // lets go of the trials' folders: what is tried again at once locks its own anew
      PassInterrupts();
      if (watch_->lost()) continue;  // what else is written goes by the folder's name, and that leads elsewhere
      if (any_ended) Launch();       // the free cores first, the tables after
      if (any_ended) TellDatabase();
      const JobTable::Job* only = jobs_.Only();
      display_.Show(only != nullptr ? only->attempt.get() : nullptr, Now());
    }
  }

  // Whether this session asks a search: one that is over stays as it is, and so does one of which only some trials are run.
  bool Searches() const { return search_ && !OnlySome() && !search_->IsOver(log_->record().search); }

  // What was suggested is planned again. False: it can not go on from that, and it was said why.
  bool GoOnWithSearch() {
    if (!search_) return true;
    report_.refused = search_->WhyNotTheSame(log_->record().search);
    report_.refused_file = !report_.refused.empty();
    if (report_.refused_file) return false;
    search_->Regrow(log_->record().search);
    TakeInNew();
    return !Searches() || StartSearch(log_->record().search);
  }

  bool StartSearch(const SearchRecord& known) {
    if (!search_) return true;
    if (request_.adopt_history) search_->AdoptHistory();
    try {
      search_->Start(known, ResultsFolder{request_.out}.search_log(),
                     {plan_.base.experiment.resources.hang_timeout_s, [this] { return GoOnMeanwhile(); }});
    } catch (const SearchDiffers& differs) {
      report_.refused = differs.what();
    } catch (const SearchError& error) {
      if (stopping()) return false;
      report_.refused = std::string(error.what()) + "\nnothing was started\n";
      report_.refused_file = true;
    }
    return report_.refused.empty();
  }

  // The tick of the batch while a search computes its reply: hangs, limits, Ctrl-C. Jobs that end meanwhile are kept, so that
  // the order of the messages to the search is the same. False: do not wait for the reply.
  bool GoOnMeanwhile() {
    for (JobTable::Ended& one : jobs_.Wait(0)) ended_meanwhile_.push_back(std::move(one));
    LookAfterFolder();
    PassInterrupts();
    const JobTable::Job* only = jobs_.Only();
    if (!jobs_.empty() && !watch_->lost()) display_.Show(only != nullptr ? only->attempt.get() : nullptr, Now());
    return !report_.interrupted && !watch_->lost();
  }

  bool BeginSearch() {
    if (!Searches()) return true;
    try {
      search_->Begin(log_.get(), direction_);
      search_->TellEnded(schedule_);
      return true;
    } catch (const SearchError& error) {
      if (stopping()) return false;
      report_.refused = std::string(error.what()) + "\n";
      report_.refused_file = true;
      return false;
    }
  }

  // What can not be asked any more pauses the batch: what runs may come to its end, and the same command goes on.
  template <class Ask>
  void AskSearch(Ask ask) {
    if (!search_) return;
    try {
      ask();
    } catch (const SearchError& error) {
      Pause(error.what());
    }
  }

  std::optional<size_t> NextTrial() {
    std::optional<size_t> trial = schedule_.Next(Now());
    while (!trial && schedule_.waiting() == 0 && GrowPlan()) trial = schedule_.Next(Now());
    return trial;
  }

  // One more suggestion where a trial could start now, and after the last one what confirms the best.
  bool GrowPlan() {
    if (!search_ || OnlySome() || stopping()) return false;
    bool grown = false;
    if (search_->WantsMore()) {
      const ResourceConfig& resources = plan_.base.experiment.resources;
      const auto room = resource_pool_.Take(resources, resources.exclusive);
      if (!room) return false;
      resource_pool_.Give(*room);
      AskSearch([&] { grown = search_->Grow(schedule_); });
    }
    if (!grown && !search_->WantsMore()) grown = search_->Confirm();
    if (!grown) return false;
    TakeInNew();
    WritePlanFile(ResultsFolder{request_.out}.plan(), PlanLines(plan_));
    watch_->Watch(ResultsFolder{request_.out}.plan());
    database_->Grow(PlanLines(plan_), log_->record());
    AskSearch([this] { search_->TellEnded(schedule_); });
    return true;
  }

  // Trials that the plan has at its end since the last call; what another plan has run of them counts.
  void TakeInNew() {
    const size_t before = report_.trials.size();
    schedule_.Grow();
    report_.trials.resize(plan_.trials.size());
    names_ = DisplayNames(plan_);
    for (size_t i = before; i < plan_.trials.size(); ++i)
      if (const TrialRecord* record = RecordOf(i)) schedule_.Set(i, record->state);
  }

  void Launch() {
    while (!stopping() && InterruptScope::Count() == interrupts_) {
      const auto trial = NextTrial();
      if (!trial) return;
      if (!next_ || next_->first != *trial) next_.emplace(*trial, plan_.Load(plan_.trials[*trial]));
      const ResourceConfig& resources = next_->second.experiment.resources;
      const auto allocation = resource_pool_.Take(resources, resources.exclusive);
      if (!allocation) return;
      if (!watch_->InPlace()) {
        resource_pool_.Give(*allocation);
        return LookAfterFolder();
      }
      Start(*trial, next_->second, *allocation);
      next_.reset();
    }
  }

  void Start(size_t trial, const LoadedExperiment& loaded, const Allocation& allocation) {
    std::unique_ptr<Attempt> attempt;
    try {
      attempt = Make(trial, loaded, allocation);
    } catch (const std::exception& error) {
      resource_pool_.Give(allocation);
      return NotStarted(trial, std::max(FolderOf(trial).LastAttempt(), 1u), WordsOf(error));
    }
    const unsigned number = attempt->number();
    Allocation here = allocation;
    if (engine_->IsElsewhere()) {  // a node gives out its own: only how many is known here
      std::iota(here.cores.begin(), here.cores.end(), 0);
      here.gpus.clear();
    }
    log_->Append(AttemptStart{here.cores, here.gpus, attempt->resumed()}, plan_.trials[trial].id, number);
    display_.Detail(fmt::format("{} starts: attempt {} of trial {}{}, {}{}", names_[trial], number, plan_.trials[trial].id,
                                attempt->resumed() ? ", from its checkpoint" : "",
                                engine_->IsElsewhere() ? fmt::format("on a node, with {} cores", allocation.cores.size())
                                                       : fmt::format("cores {}", fmt::join(allocation.cores, ",")),
                                here.gpus.empty() ? "" : fmt::format(", GPUs {}", fmt::join(here.gpus, ","))));
    schedule_.Set(trial, TrialState::kRunning);
    ++report_.started;
    try {
      jobs_.Start(trial, std::move(attempt), allocation);
    } catch (const std::exception& error) {
      NotStarted(trial, number, WordsOf(error));
    }
  }

  // The disk is full, no process can be made: not the trial's fault, and it may pass.
  void NotStarted(size_t trial, unsigned attempt, const std::string& why) {
    AttemptVerdict verdict;
    verdict.outcome = Outcome::kTemp;
    verdict.state = TrialState::kFailed;
    verdict.why = "could not be started: " + why;
    Settle(trial, attempt, verdict, {});
  }

  void Finish(const JobTable::Ended& ended) {
    if (ended.how.verdict.outcome == Outcome::kStale) ++lost_nodes_[ended.job.trial];
    if (!ended.how.unwritten.empty()) display_.Note("warning: " + ended.how.unwritten);
    // Trials of one file mostly warn of the same.
    for (const std::string& warning : ended.how.warnings)
      if (warned_.insert(WarningKind(warning)).second) display_.Note("warning: " + WarningOnOneLine(warning));
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

  // With the first that an attempt tells come those of a trial that an earlier session has finished.
  void LookAtVersions(const PluginFacts& facts, size_t trial) {
    if (!TellsVersions(facts)) return;
    for (size_t i = 0; i < plan_.trials.size() && !knows_versions_; ++i) {
      if (i == trial || schedule_.state(i) != TrialState::kCompleted) continue;
      const PluginFacts earlier = ReadResult(FolderOf(i).attempt(FolderOf(i).LastAttempt())).facts;
      knows_versions_ = TellsVersions(earlier);
      versions_.Look(earlier, names_[i]);
    }
    knows_versions_ = true;
    for (const std::string& change : versions_.Look(facts, names_[trial])) display_.Note("warning: " + change);
  }

  // What follows from an ended attempt, first of all for the record.
  void Settle(size_t trial, unsigned attempt, const AttemptVerdict& verdict, AttemptEnd told) {
    const FailureDecision next = failure_policy_.After(plan_.trials[trial].id, verdict);
    told.outcome = verdict.outcome;
    told.state = next.state;
    told.why = verdict.why;
    told.signal = verdict.signal;
    log_->Append(told, plan_.trials[trial].id, attempt);
    display_.Detail(fmt::format("{} ended: attempt {} of trial {}, {} ({}){}{}", names_[trial], attempt, plan_.trials[trial].id,
                                Word(next.state), Word(verdict.outcome), verdict.why.empty() ? "" : ": ", verdict.why));
    schedule_.Set(trial, next.state);
    if (IsFinal(next.state)) {
      ended_.push_back(trial);
      AskSearch([this] { search_->TellEnded(schedule_); });
    }
    if (next.state == TrialState::kPlanned) {
      if (next.retry_after_s) display_.Note(names_[trial] + ": " + verdict.why + "; it is tried again");
      next.retry_after_s ? schedule_.Delay(trial, Now() + *next.retry_after_s) : schedule_.Leave(trial);
      return;
    }
    if (next.state == TrialState::kInfeasible) Infer();
    if (next.state != TrialState::kCompleted) SkipWhatNeverCan();
    if (const auto why = stop_rules_.Ended(next.state, verdict.outcome, Now())) Pause(*why);
  }

  void Pause(const std::string& why) {
    if (stopping()) return;
    report_.paused = why;
    log_->Append(SweepPaused{why});
    display_.Note("pausing: " + why + "; trials that run come to their end");
  }

  // The second Ctrl-C ends everything at once.
  void PassInterrupts() {
    const int count = InterruptScope::Count();
    if (count == interrupts_) return;
    const bool first = std::exchange(interrupts_, count) == 0;
    report_.interrupted = true;
    jobs_.StopAll(count >= 2 ? StopHow::kKill : StopHow::kAsk);  // first, because the terminal may be blocked
    display_.Detail(fmt::format("asked to stop, {}", first ? "for the first time" : "again"));
    if (!first || jobs_.empty()) return;
    display_.Note(fmt::format(
        "stopping after this step, {}; Ctrl-C again ends it at once",
        unsaved_.empty() ? "with a checkpoint" : fmt::format("without a checkpoint of {}", fmt::join(unsaved_, ", "))));
    if (!request_.quiet) InterruptScope::Acknowledge();
  }

  // Somebody moves, deletes or replaces what we write into: nothing more is started, and what runs is asked to end.
  void LookAfterFolder() {
    const auto in_place = [this](const JobTable::Job& job) { return watch_->InPlace(job.attempt->trial()); };
    if (asked_to_leave_ || (watch_->InPlace() && jobs_.All(in_place))) return;
    asked_to_leave_ = true;
    jobs_.StopAll(StopHow::kAsk);
  }

  // Our own records can not be written any more: what runs may still save itself, and the next session finds its results.
  void EndAll() {
    jobs_.StopAll(StopHow::kAsk);
    while (!jobs_.empty()) {
      jobs_.Wait(kBatchTick_ms);
      PassInterrupts();
    }
    display_.Clear();
  }

  BatchReport Report() {
    for (size_t i = 0; i < plan_.trials.size(); ++i)
      if (const TrialRecord* record = RecordOf(i)) report_.trials[i] = ToldOf(*record);
    for (const auto& [trial, nodes] : lost_nodes_) report_.trials[trial].lost_nodes = nodes;
    report_.interrupted =
        report_.interrupted && (report_.while_checking || report_.Count(TrialState::kPlanned) > 0 || Searches());
    display_.Detail(fmt::format("end: {} of {} trials completed, {} attempts in {:.1f} s{}",
                                report_.Count(TrialState::kCompleted), report_.trials.size(), report_.started, Now(),
                                report_.interrupted ? ", interrupted" : ""));
    report_.lock = std::move(lock_);
    return report_;
  }

  const BatchRequest& request_;
  Plan& plan_;
  ResourcePool& resource_pool_;
  Engine* engine_;
  JobTable jobs_;
  Schedule schedule_;
  FailurePolicy failure_policy_;
  std::unique_ptr<BatchSearch> search_;  // NULL: all points stand in the file
  StopRules stop_rules_;
  BatchDisplay display_;
  std::vector<std::string> names_;  // [trials]
  const Clock::time_point start_ = Clock::now();
  std::unique_ptr<OutLock> lock_;
  std::optional<SessionLog> session_log_;
  std::unique_ptr<FolderWatch> watch_;
  bool asked_plugins_ = false;
  bool asked_to_leave_ = false;  // the trials, after the folder was lost
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<Database> database_;
  std::vector<JobTable::Ended> ended_meanwhile_;             // while a search computed its reply
  std::vector<size_t> ended_;                                // trials that the database does not know of yet
  uint64_t seq_before_ = 0;                                  // of the newest event that an earlier session wrote
  std::optional<std::pair<size_t, LoadedExperiment>> next_;  // resolved, waiting for room
  std::map<size_t, unsigned> lost_nodes_;                    // by trial, in this session
  std::set<std::string> unsaved_;                            // learners that save no state
  std::set<std::string> warned_;                             // what trials warned of, said once
  VersionWatch versions_;
  bool knows_versions_ = false;  // those of earlier sessions
  int interrupts_ = 0;
  int direction_ = 0;  // of what is searched for, as who records it says
  BatchReport report_;
};

}  // namespace

size_t BatchReport::Count(TrialState state) const {
  return static_cast<size_t>(
      std::count_if(trials.begin(), trials.end(), [&](const Trial& trial) { return trial.state == state; }));
}

BatchReport RunBatch(BatchRequest* request, Engine* engine, ResourcePool* resource_pool) {
  return Batch(*request, engine, resource_pool).Run();
}

}  // namespace backplane
