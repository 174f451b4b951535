#include "trial/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "machine/resource_measures.hpp"
#include "record/fields.hpp"
#include "trial/live_names.hpp"
#include "trial/metric_events.hpp"
#include "trial/tick_table.hpp"
#include "trial/time_table.hpp"

namespace backplane {
namespace {

constexpr int64_t kLongTickNs = 1'000'000'000;
constexpr double kTickPatienceS = 10;  // a supervisor that asks to stop waits 30 s
constexpr double kTickPatienceShare = 0.1;

// JSON has no infinities; a metric that is not finite is written as null.
nlohmann::json Number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

}  // namespace

TrialLoop::TrialLoop(LoopParts parts)
    : parts_(std::move(parts)),
      clocks_(parts_.threads.clocks()),
      phase_events_(clocks_, parts_.monitors),
      collector_(parts_.env, parts_.learner, parts_.threads.collectors(), {parts_.chunk_rows, parts_.spec.experiment.seed},
                 parts_.cancelled, [this] { parts_.status.Beat(); }),
      balance_metric_(parts_.metrics.Add(true, {"rollout/balance", "", "mean / largest CPU time of the runner threads", 1})),
      wall_eff_metric_(
          parts_.metrics.Add(true, {"rollout/wall_eff", "", "CPU time of the runner threads / (threads x wall time)", 1})),
      use_sum_{0, 0},
      metrics_file_(parts_.spec.attempt_dir / "metrics.jsonl", parts_.spec.attempt),
      measuring_(parts_.spec.experiment.report, parts_.spec.seeds) {
  parts_.metrics.Watch(&clocks_[0]);
  parts_.status.NameLive(parts_.spec.experiment.live);
}

void TrialLoop::Run() {
  start_ns_ = clocks_start_ns_ = NowNs();
  WatchClosely();
  const auto stop_clock = [this] {
    end_ns_ = NowNs();
    phase_events_.HandOver(iterations_, env_steps_);
  };
  try {
    const bool resumed = parts_.spec.resume && Resume();
    if (!resumed && parts_.spec.start_from) StartFromOther();
    RunRequests();
    if (stopped_)
      SaveCheckpoint();
    else
      SaveAtEnd();  // before the evaluation, which may fail
    if (!stopped_ && parts_.evaluation_env != nullptr) EvaluateAtEnd();
  } catch (const TrialFailure& failure) {
    const bool asked = failure.status() == BP_E_CANCELLED && parts_.cancelled;
    if (failure.status() == BP_E_NUMERIC) KeepStateBefore();
    if (asked) SaveCheckpoint();
    stop_clock();
    if (!asked) throw;
    stopped_ = true;
  } catch (...) {
    stop_clock();
    throw;
  }
  stop_clock();
}

// What is between requests and in no phase of its own is the host's part in handing things over: sync.
void TrialLoop::RunRequests() {
  const PhaseSpan span(clocks_[0], Phase::kSync);
  for (;;) {
    const bp_request request = parts_.learner.Plan(LimitsNow());
    switch (request.kind) {
      case BP_REQ_ROLLOUT:
        if (!StartCollecting(request)) return;
        Rollout(request);
        if (stopped_) return;
        break;
      case BP_REQ_EVALUATE:
        if (!StartCollecting(request)) return;
        Candidates(request);
        if (stopped_) return;
        break;
      case BP_REQ_DATA:
        if (!StartCollecting(request)) return;
        Data(request);
        if (stopped_) return;
        break;
      case BP_REQ_TICK:
        Tick(request);
        if (EndsBetweenTicks()) return;
        break;
      case BP_REQ_SAVE:
        TakeBoundaryState();
        SaveCheckpoint();
        break;
      case BP_REQ_DONE: CloseIteration(); return;
      default:
        throw TrialFailure(
            BP_E_UNSUPPORTED, parts_.learner.id(),
            fmt::format("asks for request kind {}, this host serves ROLLOUT, EVALUATE, DATA, TICK, SAVE and DONE",
                        request.kind));
    }
  }
}

// Ends the previous iteration. False if the trial ends here.
bool TrialLoop::StartCollecting(const bp_request& request) {
  CloseIteration();
  const Experiment& experiment = parts_.spec.experiment;
  if (request.kind != BP_REQ_DATA) CheckCollecting(request);
  if (Reached(experiment.budget, SpentNow()) || measuring_.Ended(AttemptSeconds())) return false;
  if (iterations_ == 0 && !warm_up_ && experiment.evaluation.at_start && parts_.evaluation_env != nullptr)
    EvaluateAtStart(request);
  keeps_before_ = request.kind != BP_REQ_DATA || ticks_after_data_;
  boundary_ = {};
  if (keeps_before_) TakeBoundaryState();
  if (parts_.cancelled) {
    stopped_ = true;
    return false;
  }
  if (iterations_ > 0 && experiment.checkpoint_every_iterations > 0 &&
      iterations_ % experiment.checkpoint_every_iterations == 0)
    SaveCheckpoint();
  return true;
}

void TrialLoop::CheckCollecting(const bp_request& request) const {
  const BudgetConfig& budget = parts_.spec.experiment.budget;
  const bool measures = parts_.spec.experiment.report.precision_pct.has_value();
  if (!budget.iterations && !budget.env_steps && !budget.wall_time_s && !measures)
    throw TrialFailure(
        BP_E_CONFIG, parts_.learner.id(),
        fmt::format("{}, and budget.epochs counts passes over a dataset: give iterations, env_steps or wall_time",
                    request.kind == BP_REQ_ROLLOUT ? "collects rollouts" : "evaluates candidates"));
  if (request.kind == BP_REQ_EVALUATE) return CandidateScorer::Check(request, parts_.env, parts_.learner);
  CheckHorizon(request.u.rollout.horizon, parts_.env, parts_.learner);
}

void TrialLoop::Rollout(const bp_request& request) {
  open_ = begun_ = true;
  scorer_has_env_ = false;
  iteration_start_ns_ = NowNs();
  parts_.status.SetPhase("rollout");
  if (!collector_.Collect(request.u.rollout.horizon, clocks_)) {
    open_ = false;
    stopped_ = true;
    return;
  }
  collect_ns_ = SinceIterationStart();
  RestoreProcessState(Suspects());  // what is found after this is the learner's
  RecordUse(collector_.use());
  iteration_steps_ = request.u.rollout.horizon * parts_.env.rows();
  env_steps_ += iteration_steps_;
  RecordEpisodes(collector_.episodes(), collector_.info_names());
  const PhaseSpan span(clocks_[0], Phase::kBatchBuild);
  parts_.status.SetPhase("batch_build");
  bp_delivery delivery = collector_.Delivery();
  delivery.env_steps = env_steps_;
  Consume(delivery);
}

void TrialLoop::RecordUse(const PoolUse& use) {
  parts_.metrics.Record(balance_metric_, use.balance);
  parts_.metrics.Record(wall_eff_metric_, use.wall_eff);
  use_sum_ = {use_sum_.balance + use.balance, use_sum_.wall_eff + use.wall_eff};
  ++collected_;
}

void TrialLoop::RecordEpisodes(const std::vector<Episode>& episodes, const std::vector<std::string>& info_names) {
  const PhaseSpan span(clocks_[0], Phase::kMonitor);
  window_.Add(episodes, info_names);
  PostEpisodes(episodes);
}

bp_limits TrialLoop::LimitsNow() {
  const Experiment& experiment = parts_.spec.experiment;
  Spent spent = SpentNow();
  if (open_ && !WarmsUp())
    ++spent.iterations;  // it is closed when the next one is asked for, and an attempt that goes on there has it counted
  bp_limits limits = Limits(experiment.budget, spent, parts_.env.rows(), parts_.chunk_rows);
  limits.device_bytes = experiment.resources.device_memory_bytes.value_or(0);
  if (SourceOf(parts_.env) != nullptr) limits.items = ItemsOf(parts_.env);
  if (feed_) limits.micro_batch_max = feed_->micro_batch_max();
  return limits;
}

void TrialLoop::Tick(const bp_request& request) {
  const char* phase = request.u.tick.phase ? request.u.tick.phase : "";
  if (open_ && !keeps_before_) ticks_after_data_ = true;
  parts_.status.SetPhase(phase);
  parts_.status.Beat();
  const PhaseSpan span(clocks_[0], PhaseFromName(phase));
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = BP_REQ_TICK;
  delivery.env_steps = env_steps_;
  const int64_t start_ns = NowNs();
  Consume(delivery);
  if (const int64_t duration_ns = NowNs() - start_ns; duration_ns > kLongTickNs)
    NoteLongTick(phase, static_cast<double>(duration_ns) * 1e-9, &long_ticks_);
  if (!open_) RestoreState(parts_.learner.id());  // else once, at the iteration's end
}

// Told to stop, or out of time, where no request comes in which that is looked at. An iteration that ticks has a while to come
// to its end; then it is dropped as one that is stopped while it collects. One before which nothing was kept is not dropped.
bool TrialLoop::EndsBetweenTicks() {
  const std::optional<double>& limit_s = parts_.spec.experiment.budget.wall_time_s;
  const bool cancelled = parts_.cancelled;
  if (!cancelled && !(limit_s && SpentNow().seconds >= *limit_s)) return false;
  const int64_t now = NowNs();
  if (should_end_since_ns_ == 0) should_end_since_ns_ = now;
  const double patience_s = cancelled ? kTickPatienceS : std::max(kTickPatienceS, *limit_s * kTickPatienceShare);
  if (open_ && (!keeps_before_ || static_cast<double>(now - should_end_since_ns_) * 1e-9 < patience_s)) return false;
  if (open_) {
    open_ = false;
    env_steps_ -= iteration_steps_;
  } else {
    TakeBoundaryState();
  }
  stopped_ = cancelled;
  return true;
}

// A learner meets a NaN of the env late, as a loss or a gradient, and can only blame itself: the source is named before it.
void TrialLoop::Consume(const bp_delivery& delivery) {
  try {
    parts_.learner.Consume(delivery);
    collector_.CheckDelivered();
  } catch (const TrialFailure& failure) {
    if (failure.status() != BP_E_NUMERIC) throw;
    std::optional<std::string> source;
    if (scorer_has_env_)
      source = scorer_->NonFiniteObservation();
    else if (const auto found = collector_.NonFiniteObservation())
      source = found->text;
    if (!source) throw;
    throw TrialFailure(BP_E_NUMERIC, parts_.env.id(), *source + "; it came before: " + failure.what());
  }
}

// Ends the iteration that runs, if one does, and writes its line; or the line that a stop during its evaluation left to this
// attempt.
void TrialLoop::CloseIteration() {
  if (!open_ && unwritten_.is_null()) return;
  const PhaseSpan span(clocks_[0], Phase::kMonitor);
  RestoreState(parts_.learner.id());
  if (open_) CountIteration();
  const auto& evaluation = parts_.spec.experiment.evaluation;
  if (parts_.evaluation_env != nullptr && evaluation.every_iterations > 0 && iterations_ > 0 &&
      iterations_ % evaluation.every_iterations == 0) {
    Evaluate();
    unwritten_["eval"] = evaluation_;
  }
  WriteLine();
}

void TrialLoop::CountIteration() {
  open_ = begun_ = false;
  const uint64_t number = OpenIteration();
  iteration_end_ns_ = std::max(NowNs(), iteration_start_ns_ + 1);  // the clock may have been set back (clocks.hpp)
  const double seconds = (iteration_end_ns_ - iteration_start_ns_) * 1e-9, collecting = collect_ns_ * 1e-9;
  AddSpeed(seconds);
  if (WarmsUp()) EndWarmUp();
  iterations_ = number;
  unwritten_ = {{"iteration", number}, {"step", env_steps_}, {"episodes", window_.total()}};
  unwritten_["return"] = window_.Returns();
  unwritten_["ep"] = window_.Metrics();
  for (const auto& [name, value] : parts_.metrics.Take(false)) unwritten_["metrics"][name] = Number(value);
  // Everything that differs from run to run stands in here, so that the rest of two runs can be compared byte for byte.
  unwritten_["time"] = {
      {"iteration_s", seconds}, {"sps", iteration_steps_ / seconds}, {"sampling_sps", iteration_steps_ / collecting}};
}

void TrialLoop::AddSpeed(double seconds) {
  const double collecting = collect_ns_ * 1e-9;
  if (!std::exchange(warm_, true)) {
    first_s_ = seconds, first_collect_s_ = collecting, first_steps_ = iteration_steps_;
    return;
  }
  steady_s_ += seconds, steady_collect_s_ += collecting, steady_steps_ += iteration_steps_;
  if (iteration_steps_ > 0) measuring_.Add(static_cast<double>(iteration_steps_) / seconds);
}

// From here on is measured what shares of the time tell of, too; the other threads rest between two requests.
void TrialLoop::EndWarmUp() {
  warm_up_ = WarmUp{env_steps_, TrialSeconds(), feed_ ? feed_->epochs() : 0};
  for (PhaseClock& clock : clocks_) clock.Reset();
  clocks_start_ns_ = NowNs();
}

// What an earlier attempt measured of the iteration stays.
void TrialLoop::TakeMachine() {
  for (const auto& [name, value] : parts_.metrics.Take(true)) unwritten_["time"]["machine"].emplace(name, Number(value));
}

void TrialLoop::WriteLine() {
  TakeMachine();
  nlohmann::json line = std::exchange(unwritten_, nlohmann::json());
  line["time"]["t"] = TrialSeconds();
  metrics_file_.Append(line);

  StatusFile& status = parts_.status.data();
  status.iteration = iterations_;
  status.env_steps = env_steps_;
  status.episodes = window_.total();
  status.progress = std::max(Progress(parts_.spec.experiment.budget, SpentNow()), measuring_.Progress(AttemptSeconds()));
  status.sps = line["time"]["sps"].get<double>();
  status.episode_return = window_.mean_return();
  ShowLive(line);
  if (!looked_for_live_) WarnOfLiveNames(line);
  phase_events_.HandOver(iterations_, env_steps_);
  PostIteration(parts_.monitors, line, iteration_end_ns_, iteration_end_ns_ - iteration_start_ns_);
}

// What this iteration has no value of keeps the one before, as an evaluation comes now and then.
void TrialLoop::ShowLive(const nlohmann::json& line) {
  const bool of_gpu = parts_.spec.experiment.resources.gpus > 0;
  if (parts_.spec.experiment.live.empty() && !of_gpu) return;
  std::vector<MetricValue> values = MetricSeries(line);
  if (of_gpu) AddLiveOfGpu(&values);
  for (const MetricValue& value : values) parts_.status.SetLive(value.name, value.value);
}

void TrialLoop::AddLiveOfGpu(std::vector<MetricValue>* values) {
  for (const std::string_view measure : resource_measure::kLiveOfGpu) {
    const auto found =
        std::find_if(values->begin(), values->end(), [&](const MetricValue& one) { return one.name == measure; });
    if (found == values->end()) continue;  // nothing has sampled it yet: there would be an empty column
    parts_.status.AddLive(measure);
    // Of memory the most so far, as the finding of its target takes it.
    if (measure == resource_measure::kGpuMemoryPct) found->value = gpu_memory_pct_ = std::max(gpu_memory_pct_, found->value);
  }
}

// After an iteration everything is registered that will be: a mistyped name would stay empty without a word.
void TrialLoop::WarnOfLiveNames(const nlohmann::json& line) {
  looked_for_live_ = true;
  std::vector<std::string> names;
  for (const MetricValue& value : MetricSeries(line)) names.push_back(value.name);
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered()) names.push_back(metric.name);
  names.insert(names.end(), {"return", "ep/length"});
  for (const bp_channel* channel : parts_.env.channels())
    if (IsEpisodeInfo(*channel)) names.push_back(channel->name);
  if (feed_ && feed_->HasHeldOutLoss() && parts_.evaluation_env != nullptr) names.push_back("eval/loss");
  const auto place = parts_.spec.origin.find("output.live");
  const auto unknown = UnknownLive(parts_.spec.experiment.live, std::move(names), parts_.evaluation_env != nullptr,
                                   place == parts_.spec.origin.end() ? "" : place->second);
  for (const std::string& warning : unknown) Warn(warning);
}

void TrialLoop::Warn(const std::string& sentence) {
  warnings_.push_back(sentence);
  std::fprintf(stderr, "warning: %s\n", sentence.c_str());
  parts_.status.SetLine("warning: " + sentence);
}

void TrialLoop::PostEpisodes(const std::vector<Episode>& episodes) {
  if (!parts_.monitors.Wants(BP_EVENT_EPISODE)) return;
  for (const Episode& episode : episodes) {
    bp_event event{};
    event.type = BP_EVENT_EPISODE;
    event.iteration = OpenIteration();
    event.env_steps = env_steps_;
    event.instance = static_cast<uint32_t>(episode.row);
    event.value = episode.episode_return;
    parts_.monitors.Post(event, "return");
  }
}

Spent TrialLoop::SpentNow() const {
  if (WarmsUp()) return {};
  const WarmUp before = warm_up_.value_or(WarmUp{});
  return {iterations_, env_steps_ - before.env_steps, TrialSeconds() - before.seconds,
          (feed_ ? feed_->epochs() : 0) - before.epochs};
}

MetricsRecord TrialLoop::MetricsSoFar() const {
  MetricsRecord record{metrics_before_};
  record.metrics_parts->push_back(metrics_file_.written());
  return record;
}

nlohmann::json TrialLoop::Result() const {
  const int64_t wall_ns = WallNs();
  const bool one = steady_steps_ == 0;
  const double seconds = one ? first_s_ : steady_s_, collecting = one ? first_collect_s_ : steady_collect_s_;
  const double steps = static_cast<double>(one ? first_steps_ : steady_steps_);
  nlohmann::json out = PhaseTable(clocks_, ClocksNs());
  out.update(ToJson(MetricsSoFar()));
  out["iterations"] = iterations_;
  out["env_steps"] = env_steps_;
  out["episodes"] = window_.total();
  out["wall_s"] = wall_ns * 1e-9;
  out["trial_s"] = seconds_before_ + wall_ns * 1e-9;  // with earlier attempts
  out["sps"] = seconds > 0 ? nlohmann::json(steps / seconds) : nullptr;
  out["sampling_sps"] = collecting > 0 ? nlohmann::json(steps / collecting) : nullptr;
  if (const auto precision = measuring_.Reached(static_cast<double>(wall_ns) * 1e-9)) out["precision"] = ToJson(*precision);
  if (collected_ > 0) {
    const double n = static_cast<double>(collected_);
    out["rollout"] = {{"balance", use_sum_.balance / n}, {"wall_eff", use_sum_.wall_eff / n}};
  }
  if (feed_) out["data"] = ToJson(*feed_);
  out["return"] = window_.Returns();
  out["metrics"] = window_.Metrics();
  out["evaluation"] = evaluation_;
  if (evaluated_at_) out["evaluated_at"] = *evaluated_at_;
  out["floor_zero"] = floor_zero_;
  out["floor_uniform"] = floor_uniform_;
  out["checkpoint"] = checkpoint_path_;
  for (const LongTicks& one : long_ticks_) out["long_ticks"].push_back(ToJson(one));
  AddMeasured(&out);
  return out;
}

void TrialLoop::AddMeasured(nlohmann::json* out) const {
  (*out)["time"] = TimeTable(clocks_, ClocksNs(), RunQueueWaitNs(clocks_), parts_.metrics.ByGroup());
  nlohmann::json& measures = (*out)["measures"] = nlohmann::json::object();
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered())
    measures[metric.name] = {{"unit", metric.unit}, {"direction", metric.direction}, {"doc", metric.doc}};
}

}  // namespace backplane
