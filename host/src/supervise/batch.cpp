#include "supervise/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/files.hpp"
#include "store/database.hpp"
#include "store/event_log.hpp"
#include "store/plan_file.hpp"
#include "supervise/attempt.hpp"
#include "supervise/batch_display.hpp"
#include "supervise/batch_files.hpp"
#include "supervise/interrupt.hpp"
#include "supervise/layout.hpp"
#include "supervise/pair_check.hpp"
#include "supervise/consequences.hpp"
#include "supervise/recover.hpp"
#include "supervise/schedule.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTick_ms = 200;

double Seconds(Clock::duration span) { return std::chrono::duration<double>(span).count(); }

class Batch {
 public:
  Batch(const BatchRequest& request, Engine* engine, Slots* slots)
      : request_(request),
        plan_(request.plan),
        engine_(*engine),
        slots_(*slots),
        schedule_(plan_),
        consequences_(plan_.base.experiment.on_failure),
        stop_rules_(plan_.base.experiment.stop_sweep, plan_.trials.size()),
        display_(request.out, plan_, request.quiet) {}

  BatchReport Run() {
    const InterruptScope interrupts;  // over checks and trials: a Ctrl-C between two processes counts
    Open();
    if (!TakeOver()) return Report();
    WriteBatchFiles(request_);
    if (schedule_.waiting() == 0) return Report();
    log_->Append("session.start", "", 0, SessionFacts(plan_.trials.size()));
    database_ = std::make_unique<Database>(request_.out, ReadPlanFile(request_.out / "plan.jsonl"), log_->record(),
                                           [this](const std::string& sentence) { display_.Note("warning: " + sentence); });
    if (CheckPairs()) RunTrials();
    const char* why = !report_.paused.empty() ? "paused" : report_.interrupted ? "interrupted" : "done";
    log_->Append("session.end", "", 0, {{"why", why}});
    display_.Show(nullptr, Now(), /*always=*/true);
    display_.Clear();
    return Report();
  }

 private:
  struct Running {
    size_t trial;
    std::unique_ptr<Attempt> attempt;
    Grant grant;
    Clock::time_point started;
  };

  double Now() const { return Seconds(Clock::now() - start_); }

  void Open() {
    if (request_.fresh) {
      if (const auto moved = MoveAside(request_.out)) display_.Note("the old results are now in " + moved->string());
    }
    lock_ = std::make_unique<OutLock>(request_.out, [this](const std::string& sentence) { display_.Note(sentence); });
    log_ = std::make_unique<EventLog>(request_.out / "events.jsonl");
  }

  // Brings the states of earlier sessions into the schedule. False: the plan must not run on these results.
  bool TakeOver() {
    EndOpenAttempts(request_.out, log_.get(), &consequences_);
    const std::filesystem::path last_plan = request_.out / "plan.jsonl";
    if (!request_.accept_change && std::filesystem::exists(last_plan)) {
      const auto changes = ChangedFiles(ReadPlanFile(last_plan), plan_, log_->record());
      if (!changes.empty()) report_.refused = FormatChanges(changes);
    }
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      if (const TrialRecord* record = log_->record().Find(plan_.trials[i].id)) schedule_.Set(i, record->state);
    }
    if (request_.only_failed) PutBackFailed(*request_.only_failed);
    return report_.refused.empty();
  }

  void PutBackFailed(const std::set<std::string>& classes) {
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const TrialRecord* record = log_->record().Find(plan_.trials[i].id);
      const bool failed = record != nullptr && record->state == "FAILED";
      if (failed && (classes.empty() || classes.contains(record->outcome))) {
        SetState(i, "PLANNED", "run again by --only-failed");
      } else {
        schedule_.Leave(i);
      }
    }
  }

  void SetState(size_t trial, const std::string& state, const std::string& why) {
    log_->Append("trial.state", plan_.trials[trial].id, 0, {{"state", state}, {"why", why}});
    schedule_.Set(trial, state);
    if (database_) database_->Update(log_->record(), plan_.trials[trial].id);
  }

  // True: there is something to run, and what there is fits together.
  bool CheckPairs() {
    bool fit = true;
    for (const auto& [name, trials] : PairsOf(plan_)) {
      std::vector<size_t> planned;
      bool ran_before = false;
      for (const size_t trial : trials) {
        if (schedule_.Waits(trial)) planned.push_back(trial);
        const TrialRecord* record = log_->record().Find(plan_.trials[trial].id);
        ran_before = ran_before || (record != nullptr && (record->state == "COMPLETED" || FolderOf(trial).HasCheckpoint()));
      }
      if (planned.empty() || ran_before) continue;
      fit = CheckPair(planned) && fit;
      if (report_.interrupted) return false;
    }
    return fit || request_.skip_invalid;
  }

  bool CheckPair(const std::vector<size_t>& trials) {
    const PlannedTrial& first = plan_.trials[trials.front()];
    const LoadedExperiment loaded = plan_.Load(first);
    const auto grant = slots_.Take(loaded.experiment.resources, /*exclusive=*/false);
    if (!grant) throw std::runtime_error("no room for the check of a trial although nothing runs");
    const JobId job = Start(trials.front(), loaded, *grant, AttemptKind::kCheck);
    const Attempt::Ended ended = WaitFor(job);
    const std::unique_ptr<Attempt> attempt = std::move(running_.at(job).attempt);
    running_.erase(job);
    slots_.Give(*grant);
    if (ended.verdict.state == "COMPLETED") return true;
    if (ended.verdict.outcome == "killed") return false;
    report_.checks.push_back({loaded.env->id, loaded.learner->id, ended.result, attempt->folder(), trials.size()});
    if (!request_.skip_invalid) return false;
    for (const size_t trial : trials) SetState(trial, "SKIPPED", "this env and this learner do not fit: " + ended.result.value("error", ""));
    return false;
  }

  Attempt::Ended WaitFor(JobId job) {
    for (;;) {
      for (const JobEnd& end : engine_.Wait(kTick_ms)) {
        if (end.job == job) return running_.at(job).attempt->Conclude(end);
      }
      Tend();
    }
  }

  TrialFolder FolderOf(size_t trial) const { return TrialFolderOf(request_.out, plan_.trials[trial].id); }

  JobId Start(size_t trial, LoadedExperiment loaded, const Grant& grant, AttemptKind kind) {
    loaded.experiment.resources.device_memory_bytes = slots_.DeviceMemory(loaded.experiment.resources, grant);
    const AttemptPlace place{request_.out, request_.program, request_.torch_lib, lock_->fd()};
    auto attempt = std::make_unique<Attempt>(place, loaded, plan_.trials[trial].id, grant, kind);
    if (kind == AttemptKind::kRun) {
      log_->Append("attempt.start", plan_.trials[trial].id, attempt->number(),
                   {{"cores", grant.cores}, {"gpus", grant.gpus}, {"resumed", attempt->resumed()}});
      schedule_.Set(trial, "RUNNING");
      ++report_.started;
    }
    const JobId job = engine_.Start(attempt->Command());
    running_[job] = {trial, std::move(attempt), grant, Clock::now()};
    return job;
  }

  void RunTrials() {
    for (;;) {
      Launch();
      if (running_.empty() && (stopping() || schedule_.waiting() == 0)) return;
      for (const JobEnd& end : engine_.Wait(kTick_ms)) End(end);
      Tend();
      display_.Show(OnlyOne(), Now());
    }
  }

  const Attempt* OnlyOne() const { return running_.size() == 1 ? running_.begin()->second.attempt.get() : nullptr; }

  bool stopping() const { return report_.interrupted || !report_.paused.empty(); }

  void Launch() {
    while (!stopping()) {
      const auto trial = schedule_.Next(Now());
      if (!trial) return;
      if (!next_ || next_->first != *trial) next_.emplace(*trial, plan_.Load(plan_.trials[*trial]));
      const auto grant = slots_.Take(next_->second.experiment.resources, next_->second.experiment.resources.exclusive);
      if (!grant) return;
      Start(*trial, next_->second, *grant, AttemptKind::kRun);
      next_.reset();
    }
  }

  void End(const JobEnd& end) {
    const auto found = running_.find(end.job);
    const Running running = std::move(found->second);
    running_.erase(found);
    slots_.Give(running.grant);
    const std::string& id = plan_.trials[running.trial].id;
    const Attempt::Ended ended = running.attempt->Conclude(end);
    if (!ended.unwritten.empty()) display_.Note("warning: " + ended.unwritten);
    const Consequence next = consequences_.After(id, ended.verdict);
    log_->Append("attempt.end", id, running.attempt->number(),
                 {{"outcome", ended.verdict.outcome},
                  {"state", next.state},
                  {"why", ended.verdict.why},
                  {"exit", end.exit.code},
                  {"signal", ended.verdict.signal},
                  {"wall_s", end.wall_s},
                  {"peak_rss_bytes", end.peak_rss_bytes}});
    schedule_.Set(running.trial, next.state);
    if (next.state == "PLANNED") {
      next.retry_after_s ? schedule_.Delay(running.trial, Now() + *next.retry_after_s) : schedule_.Leave(running.trial);
    }
    if (next.state == "INFEASIBLE") InferFrom(running.trial);
    if (next.state != "PLANNED") {
      if (const auto why = stop_rules_.Ended(next.state, ended.verdict.outcome, Now())) Pause(*why);
    }
    database_->Update(log_->record(), id);
  }

  void InferFrom(size_t trial) {
    for (const size_t other : schedule_.NeedAsMuchAs(trial))
      SetState(other, "INFEASIBLE", "inferred: " + plan_.trials[trial].id + " needs no more memory and did not fit");
  }

  void Pause(const std::string& why) {
    if (stopping()) return;
    report_.paused = why;
    log_->Append("sweep.paused", "", 0, {{"why", why}});
    display_.Note("pausing: " + why + "; trials that run come to their end");
  }

  // Looks after what runs: limits, and Ctrl-C. The second one ends everything at once.
  void Tend() {
    const int count = InterruptScope::Count();
    for (auto& [job, running] : running_) {
      if (const auto how = running.attempt->Look(Seconds(Clock::now() - running.started))) engine_.Stop(job, *how);
      if (count > interrupts_) {
        running.attempt->Interrupted();
        engine_.Stop(job, count >= 2 ? StopHow::kKill : StopHow::kAsk);
      }
    }
    if (count > interrupts_) {
      if (interrupts_ == 0 && !running_.empty()) display_.Note("stopping after this step, with a checkpoint; Ctrl-C again ends it at once");
      report_.interrupted = true;
      interrupts_ = count;
    }
  }

  BatchReport Report() {
    for (const PlannedTrial& trial : plan_.trials) {
      const TrialRecord* record = log_->record().Find(trial.id);
      report_.trials.push_back(record == nullptr
                                   ? BatchReport::Trial{"PLANNED", "", "", 0}
                                   : BatchReport::Trial{record->state, record->outcome, record->why, static_cast<unsigned>(record->attempts.size())});
    }
    report_.interrupted = report_.interrupted && report_.Count("PLANNED") > 0;
    return report_;
  }

  const BatchRequest& request_;
  const Plan& plan_;
  Engine& engine_;
  Slots& slots_;
  Schedule schedule_;
  Consequences consequences_;
  StopRules stop_rules_;
  BatchDisplay display_;
  Clock::time_point start_ = Clock::now();
  std::unique_ptr<OutLock> lock_;
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<Database> database_;
  std::map<JobId, Running> running_;
  std::optional<std::pair<size_t, LoadedExperiment>> next_;  // resolved, waiting for room
  int interrupts_ = 0;
  BatchReport report_;
};

}  // namespace

size_t BatchReport::Count(const std::string& state) const {
  return static_cast<size_t>(std::count_if(trials.begin(), trials.end(), [&](const Trial& trial) { return trial.state == state; }));
}

BatchReport RunBatch(const BatchRequest& request, Engine* engine, Slots* slots) { return Batch(request, engine, slots).Run(); }

}  // namespace backplane
