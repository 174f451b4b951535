#include "trial/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "backplane/channels.hpp"
#include "contract/recorded_budget.hpp"
#include "record/results_folder.hpp"
#include "trial/check_best.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/device_memory.hpp"
#include "trial/moment_recorder.hpp"
#include "trial/phase_meter.hpp"

namespace backplane {
namespace {

// Bounds the return of one agent by its reward: an episode has at least one step, and at most as many as the env allows.
std::optional<ReturnRange> RangeOfReturn(const bp_env_spec& env) {
  const bp_channel* reward = bp::FindChannel(env, BP_ROLE_REWARD);
  if (reward == nullptr || reward->n_bounds == 0 || reward->scope == BP_SCOPE_AGENT) return std::nullopt;
  const auto steps = static_cast<double>(env.max_episode_steps);
  const auto bound = [&](double of_a_step, bool grows) -> std::optional<double> {
    if (grows && steps == 0) return std::nullopt;
    const double sum = grows ? of_a_step * steps : of_a_step;
    return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
  };
  return ReturnRange{bound(reward->low[0], reward->low[0] < 0), bound(reward->high[0], reward->high[0] > 0)};
}

}  // namespace

TrialLoop::TrialLoop(const LoopParts& parts)
    : parts_(parts),
      state_(parts_),
      warnings_(parts_.status),
      reporting_(parts_, state_, warnings_),
      collecting_(parts_, state_, warnings_),
      checkpointing_(parts_, state_, collecting_),
      ticks_(parts_, state_, collecting_, checkpointing_),
      evaluation_(parts_, state_, collecting_.data(), warnings_),
      speed_(parts_.spec.experiment.report, parts_.spec.seeds) {
  parts_.metrics.Watch(&parts_.clock());
}

void TrialLoop::Run() {
  state_.clock.Start();
  WatchClosely();
  try {
    Begin();
    RunRequests();
    End();
  } catch (const TrialFailure& failure) {
    const bool asked = failure.status() == BP_E_CANCELLED && parts_.cancelled;
    if (failure.status() == BP_E_NUMERIC) checkpointing_.KeepStateBefore();
    if (asked) checkpointing_.SaveAsStopped();
    StopClock();
    if (!asked) throw;
    stopped_ = true;
  } catch (...) {
    StopClock();
    throw;
  }
  StopClock();
}

void TrialLoop::Begin() {
  CheckBest(parts_.spec, parts_.env, parts_.learner);
  CheckGoal(parts_.spec, parts_.env, parts_.learner);
  const bool resumed = parts_.spec.resume && Resume(parts_, &state_, &collecting_, &warnings_);
  if (!resumed) parts_.learner.files().StartEmpty();
  if (!resumed && parts_.spec.start_from) StartFromOther(parts_, &warnings_);
  checkpoint_due_ = CheckpointDue(parts_.spec.experiment.checkpoint, state_.window.total());
}

void TrialLoop::End() {
  if (stopped_) return checkpointing_.Save();
  checkpointing_.SaveAtEnd();  // before the evaluation, which may fail
  if (!evaluation_.enabled()) return;
  evaluation_.RunAtEnd();
  checkpointing_.SaveBestAtEnd();
  evaluation_.PlayBaselines();
}

void TrialLoop::StopClock() {
  state_.clock.Stop();
  reporting_.HandOverPhases();
}

// Time between requests outside of all phases is the host's handover: sync.
void TrialLoop::RunRequests() {
  const PhaseSpan span(parts_.clock(), Phase::kSync);
  for (;;) {
    const bp_limits limits = LimitsNow();
    collecting_.BeforePlan(limits);
    const bp_request request = parts_.learner.Plan(limits);
    if (CollectingSet::Serves(request)) {
      if (!StartIteration(request) || !Collect(request)) return;
    } else if (request.kind == BP_REQ_TICK) {
      ticks_.Run(request);
      const bool cancelled = parts_.cancelled;
      if (!ticks_.EndTrial(cancelled)) continue;
      stopped_ = cancelled;
      return;
    } else if (request.kind == BP_REQ_SAVE) {
      checkpointing_.Take();
      checkpointing_.Save();
    } else if (request.kind == BP_REQ_DONE) {
      return CloseIteration();
    } else {
      throw TrialFailure(
          BP_E_UNSUPPORTED, parts_.learner.id(),
          fmt::format("expected a request of kind ROLLOUT, EVALUATE, DATA, TICK, SAVE or DONE, got {}", request.kind));
    }
  }
}

// Ends the previous iteration. False if the trial ends here.
bool TrialLoop::StartIteration(const bp_request& request) {
  CloseIteration();
  const Experiment& experiment = parts_.spec.experiment;
  collecting_.Of(request).Check(request);
  if (parts_.moment) parts_.moment->Check(request);
  if (Reached(experiment.budget, SpentNow()) || state_.goal.reached() || speed_.measuring().Ended(state_.clock.attempt_s()) ||
      EndedByMonitor())
    return false;
  if (evaluation_.DueAtStart()) EvaluateAtStart(request);
  checkpointing_.BeginIteration(request);
  pruned_ = !parts_.cancelled && IsPruned();
  if (parts_.cancelled || pruned_) {
    stopped_ = true;
    return false;
  }
  checkpointing_.SaveBetween(checkpoint_due_.After(state_.count.iterations, state_.window.total()));
  return true;
}

bool TrialLoop::EndedByMonitor() {
  ended_by_ = parts_.monitors.Verdict();
  if (ended_by_)
    warnings_.Add(fmt::format("{} ended the trial after iteration {}: {}", ended_by_->plugin, state_.count.iterations,
                              ended_by_->reason));
  return ended_by_.has_value();
}

// Checked once per iteration, where a checkpoint can be taken. Costs a microsecond.
bool TrialLoop::IsPruned() const {
  std::error_code error;
  return std::filesystem::exists(AttemptFolder(WhereHeld(parts_.spec.attempt_dir)).prune(), error);
}

bool TrialLoop::Collect(const bp_request& request) {
  if (collecting_.Collect(request)) return true;
  state_.iteration.open = false;
  stopped_ = parts_.cancelled;
  if (!stopped_)
    warnings_.Add(
        fmt::format("budget.wall_time was over before iteration {} had collected all data for {}, so the iteration is "
                    "dropped; shorter iterations would fit",
                    state_.count.open_iteration(), parts_.learner.id()));
  return false;
}

// Ends the open iteration, if any, and writes its line, or the line that a stop during its evaluation left to this attempt.
void TrialLoop::CloseIteration() {
  if (!state_.iteration.open && !state_.lines.unwritten()) return;
  const PhaseSpan span(parts_.clock(), Phase::kMonitor);
  RestoreState(parts_.learner.id());
  if (state_.iteration.open) CountIteration();
  if (evaluation_.DueAfterIteration()) state_.lines.AddEvaluation(evaluation_.Run());
  const double progress =
      std::max(Progress(parts_.spec.experiment.budget, SpentNow()), speed_.measuring().Progress(state_.clock.attempt_s()));
  reporting_.ReportIteration(state_.lines.Write(state_.clock.trial_s()), progress, collecting_.data());
}

void TrialLoop::CountIteration() {
  state_.iteration.End();
  if (!collecting_.data().started()) RecordDeviceUse(parts_.learner, &parts_.metrics);
  const uint64_t number = state_.count.open_iteration();
  speed_.Add(state_.iteration);
  state_.fingerprints.Write(number, checkpointing_.keeps_before());
  if (state_.count.warms_up()) EndWarmUp();
  state_.count.iterations = number;
  state_.lines.Make(state_.count, state_.iteration, state_.window);
}

// From here on, the shares of time are measured too. The other threads are idle between two requests.
void TrialLoop::EndWarmUp() {
  state_.count.warm_up =
      WarmUp{state_.count.env_steps, state_.clock.trial_s(), collecting_.data().epochs(), state_.window.total()};
  state_.lines.ResetClocks();
  state_.clock.MeasureFromNow();
}

// Evaluates the untrained policy; recorded as iteration 0.
void TrialLoop::EvaluateAtStart(const bp_request& request) {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  collecting_.Of(request).Prepare(request);
  Iteration line;
  line.iteration = line.episodes = 0;
  line.step = state_.count.env_steps;
  line.eval = evaluation_.Run();
  line.time.t = state_.clock.trial_s();
  state_.lines.Append(line);
  reporting_.ReportMetrics(line);
}

bp_limits TrialLoop::LimitsNow() const {
  const Experiment& experiment = parts_.spec.experiment;
  Spent spent = SpentNow();
  if (state_.iteration.open && !state_.count.warms_up())
    ++spent.iterations;  // the next request closes it, and an attempt that resumes there has counted it
  bp_limits limits = Limits(experiment.budget, spent, parts_.env.rows(), parts_.call_rows);
  if (const auto schedule = ScheduleBudgetOf(experiment)) FollowSchedule(ConfigOf(*schedule), spent, &limits);
  limits.device_bytes = experiment.resources.device_memory.value_or(DeviceMemory()).bytes;
  if (experiment.on_failure.device_oom.action != FailureAction::kShrink) limits.flags |= BP_LIMIT_NO_SHRINK;
  collecting_.data().Limit(&limits);
  return limits;
}

Spent TrialLoop::SpentNow() const {
  return state_.count.SpentOfBudget(state_.clock.trial_s(), collecting_.data().epochs(), state_.window.total());
}

LoopResult TrialLoop::Result() const {
  LoopResult result;
  static_cast<PhaseTimes&>(result) = PhaseTable(parts_.threads.clocks(), state_.clock.measured_ns());
  static_cast<MeasuredTimes&>(result) = Measured();
  static_cast<MetricsRecord&>(result) = state_.lines.SoFar();
  result.iterations = state_.count.iterations;
  result.env_steps = state_.count.env_steps;
  result.episodes = state_.window.total();
  result.wall_s = state_.clock.attempt_s();
  result.trial_s = state_.clock.trial_s();
  speed_.AddTo(&result, state_.clock.attempt_s());
  result.rollout = collecting_.Use();
  result.data = collecting_.data().Result();
  result.return_range = RangeOfReturn(parts_.env.spec());
  result.training = {state_.window.Returns(), state_.window.Metrics()};
  evaluation_.AddTo(&result);
  result.checkpoint = checkpointing_.path();
  result.best = state_.best.best();
  result.until = state_.goal.Result(state_.count);
  result.long_ticks = ticks_.long_ticks();
  result.budget = RecordedBudget(parts_.spec.experiment.budget);
  result.schedule_budget = ScheduleBudgetOf(parts_.spec.experiment);
  return result;
}

MeasuredTimes TrialLoop::Measured() const {
  const std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  MeasuredTimes measured{TimeTable(clocks, state_.clock.measured_ns(), RunQueueWaitNs(clocks), parts_.metrics.ByGroup()), {}};
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered())
    measured.measures[metric.name] = {metric.unit, metric.direction, metric.doc};
  return measured;
}

}  // namespace backplane
