#include "screen/batch_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/in_parts.hpp"
#include "base/printable.hpp"
#include "record/attempt_json.hpp"
#include "record/batch_record.hpp"
#include "record/budget_cut.hpp"
#include "record/not_results.hpp"
#include "record/search_messages.hpp"
#include "record/trial_names.hpp"
#include "screen/eta.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::vector<PlanLine> ReadPlan(const ResultsFolder& folder) {
  if (!std::filesystem::exists(folder.plan())) throw std::runtime_error(NotResults(folder.out));
  return ReadPlanFile(folder.plan());
}

std::optional<double> MeasuredMean(const Measurements& found, const std::string& name) {
  const auto spread = found.statistics.find(name);
  return spread != found.statistics.end() ? spread->second.mean : std::nullopt;
}

double WallSeconds(const AttemptRecord& attempt) { return attempt.end.wall_s.value_or(*attempt.ended - attempt.started); }

}  // namespace

BatchView::BatchView(const std::filesystem::path& out) : folder_{out}, events_(folder_.events()) { Refresh(); }

void BatchView::TakePlan() {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(folder_.plan(), error);
  if (!error && written == plan_written_) return;
  const std::vector<PlanLine> plan = ReadPlan(folder_);
  plan_written_ = written;
  std::map<std::string, size_t> known, points;
  for (size_t i = 0; i < trials_.size(); ++i) known[trials_[i].plan.trial_id] = i;
  std::vector<Trial> trials;
  std::vector<BatchRow> rows;
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (const PlanLine& line : plan) {
    if (line.dropped) continue;
    const auto found = known.find(line.trial_id);
    trials.push_back(found != known.end() ? std::move(trials_[found->second]) : Trial{});
    rows.push_back(found != known.end() ? std::move(rows_[found->second]) : BatchRow{});
    trials.back().plan = line;
    trials.back().point = points.try_emplace(line.point_id, points.size()).first->second;
    rows.back().name = Printable(names[rows.size() - 1]);
  }
  trials_ = std::move(trials);
  rows_ = std::move(rows);
}

void BatchView::Refresh() {
  TakePlan();
  events_.Read();
  running_ = FindSupervisor(folder_.out).has_value();
  now_ = Now();
  constexpr size_t kWorthAThread = 500;  // reads their files if they have ended since the last look
  InParts(trials_.size(), kWorthAThread, [this](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) RefreshTrial(trials_[i], rows_[i]);
  });
  CountSessions();
  totals_.waits_for = running_ && !record().sessions.empty() ? record().sessions.back().waits_for : "";
  totals_.to_come = ToCome();
  totals_.left_s = TimeLeft();
  totals_.best = BestSoFar();
  const std::string state = State();
  totals_.note = !record().paused.empty() ? "paused: " + record().paused : state == "interrupted" ? "not running" : "";
}

void BatchView::ForgetEnded() {
  for (const Trial& trial : trials_) {
    const TrialRecord* known = record().Find(trial.plan.trial_id);
    if (known == nullptr || !IsFinal(known->state)) continue;
    if (known->attempts.empty() || trial.measured_ended) events_.Forget(trial.plan.trial_id);
  }
}

// Counts only time within sessions, not between them. A killed session counts up to its last sign of life.
void BatchView::CountSessions() {
  const auto& sessions = record().sessions;
  if (sessions.empty()) return;
  for (; counted_sessions_ + 1 < sessions.size(); ++counted_sessions_)
    earlier_s_ += EndOf(counted_sessions_) - sessions[counted_sessions_].started;
  totals_.elapsed_s = earlier_s_ + (running_ ? now_ : EndOf(sessions.size() - 1)) - sessions.back().started;
}

double BatchView::EndOf(size_t session) const {
  const auto& sessions = record().sessions;
  if (sessions[session].ended) return *sessions[session].ended;
  const double next = session + 1 < sessions.size() ? sessions[session + 1].started : now_;
  double end = sessions[session].started;
  for (const auto& [id, trial] : record().trials)
    for (const AttemptRecord& attempt : trial.attempts) {
      if (attempt.started < sessions[session].started || attempt.started >= next) continue;
      const bool ended = attempt.ended && *attempt.ended < next;
      const auto status = ended ? std::nullopt : StatusReader(folder_.attempt(id, attempt.number).status()).Read();
      end = std::max(end, ended ? *attempt.ended : attempt.started + (status ? status->own_s : 0));
    }
  return std::min(end, next);
}

void BatchView::RefreshTrial(Trial& trial, BatchRow& row) {
  const TrialRecord* known = record().Find(trial.plan.trial_id);
  if (known == nullptr) {
    return;
  }
  row.state = known->state;
  row.why = known->why;
  if (known->attempts.empty()) {
    return;
  }
  const AttemptRecord& last = known->attempts.back();
  if (last.ended) {
    FillEnded(trial, *known, row);
  } else if (running_) {
    FillRunning(trial, last, row);
  } else {
    row.state = TrialState::kPlanned;  // as the next run will treat it
    row.why = "`run` ended before this trial did";
  }
  FillPlace(*known, row);
}

void BatchView::FillPlace(const TrialRecord& known, BatchRow& row) const {
  const std::vector<AttemptRecord>& attempts = known.attempts;
  const AttemptRecord& last = attempts.back();
  const auto is_lost = [&](const AttemptRecord& attempt) {
    return attempt.ended && attempt.end.outcome == Outcome::kStale && attempt.started >= record().sessions.back().started;
  };
  if (record().sessions.empty()) return;
  if (row.state == TrialState::kPlanned && is_lost(last)) {
    row.state = TrialState::kLost;
  } else if (row.state == TrialState::kRunning && last.place.state == TrialState::kQueued) {
    const bool again = attempts.size() > 1 && is_lost(attempts[attempts.size() - 2]);
    row.state = again ? TrialState::kLost : TrialState::kQueued;
    row.why = fmt::format("{}{} in the queue", again ? attempts[attempts.size() - 2].end.why + "; " : "",
                          FormatClock(row.elapsed_s.value_or(0)));
  } else if (row.state == TrialState::kRunning) {
    row.state = last.place.state;
    row.why = last.place.why;
  }
}

void BatchView::FillRunning(Trial& trial, const AttemptRecord& attempt, BatchRow& row) {
  if (trial.measured_attempt != attempt.number) {
    trial.measured_attempt = attempt.number;
    trial.measured_ended = false;
    trial.status = std::make_unique<StatusReader>(folder_.attempt(trial.plan.trial_id, attempt.number).status());
    row.progress = row.sps = row.episode_return = std::nullopt;
    row.live.clear();
  }
  row.elapsed_s = now_ - (attempt.placed > 0 ? attempt.placed : attempt.started);  // by a clock that may be set
  if (const std::optional<StatusFile> status = trial.status ? trial.status->Read() : std::nullopt) {
    if (status->own_s > 0) row.elapsed_s = status->own_s;
    row.progress = status->progress;
    row.iterations = status->iteration;
    row.sps = status->sps;
    row.episode_return = std::isfinite(status->episode_return) ? std::optional(status->episode_return) : std::nullopt;
    row.live = LiveOf(*status);
  }
}

void BatchView::FillEnded(Trial& trial, const TrialRecord& known, BatchRow& row) {
  const AttemptRecord& attempt = known.attempts.back();
  if (trial.measured_attempt == attempt.number && trial.measured_ended) {
    return;
  }
  const std::filesystem::path file = folder_.attempt(trial.plan.trial_id, attempt.number).status();
  const std::optional<StatusFile> status = StatusReader(file).Read();
  if (row.state == TrialState::kCompleted) {
    row.progress = 1;
  } else if (status) {
    row.progress = status->progress;
  }
  trial.measured_attempt = attempt.number;
  trial.measured_ended = true;
  trial.status.reset();
  const Measurements found = MeasuredWithin(trial, known);
  row.sps = found.result.sps;
  row.episode_return = MeasuredMean(found, "return");
  row.live = status ? LiveOf(*status) : std::vector<LiveValue>();
  for (LiveValue& one : row.live) {
    const std::optional<double> last = MeasuredMean(found, one.name);  // from the result if it has one
    if (last && std::isfinite(*last)) one.value = last;
  }
  row.elapsed_s = WallSeconds(attempt);
  row.ended = *attempt.ended;
}

Measurements BatchView::MeasuredWithin(const Trial& trial, const TrialRecord& known) const {
  if (known.attempts.size() == 1) {  // most often: reads the file once
    TrialResult result = ReadResult(folder_.attempt(trial.plan.trial_id, known.attempts.back().number));
    if (!trial.plan.budget || result.budget == trial.plan.budget) return MeasurementsOf(std::move(result));
  }
  const WithinBudget within = CutAtBudget(folder_, known, trial.plan.budget);
  return ReadMeasurements(folder_.attempt(trial.plan.trial_id, within.record.attempts.back().number), within.cut);
}

std::string BatchView::State() const {
  const auto& sessions = record().sessions;
  const std::string why = sessions.empty() ? "" : sessions.back().why_ended;
  return !why.empty() ? why : running_ ? "running" : "interrupted";
}

// Most trials that a search can still add, in this or a later session. After the first confirming trial, it adds none.
size_t BatchView::ToCome() const {
  const auto& sessions = record().sessions;
  if (sessions.empty() || sessions.back().why_ended == "done" || (!running_ && record().search.open.is_null())) return 0;
  const auto confirms = [](const Trial& trial) { return trial.plan.confirms; };
  if (std::any_of(trials_.begin(), trials_.end(), confirms)) return 0;
  std::set<std::string> points;
  size_t repeated = 0;  // suggestions that came to a point that was there
  for (const auto& [number, suggestion] : record().search.suggestions)
    if (!suggestion.point_id.empty() && !points.insert(suggestion.point_id).second) ++repeated;
  const size_t seeds = points.empty() ? 1 : std::max<size_t>(rows_.size() / points.size(), 1);
  const size_t there = rows_.size() + repeated * seeds;
  return sessions.back().start.trials - std::min<size_t>(sessions.back().start.trials, there);
}

// Trials of earlier plans serve if none of this plan has finished.
const std::vector<FinishedTrial>& BatchView::EarlierTrials() {
  if (record().trials.size() == std::exchange(earlier_of_, record().trials.size())) return earlier_trials_;
  std::set<std::string> own;
  for (const Trial& trial : trials_) own.insert(trial.plan.trial_id);
  earlier_trials_.clear();
  for (const auto& [id, trial] : record().trials)
    if (trial.state == TrialState::kCompleted && !own.contains(id) && !trial.attempts.empty() && trial.attempts.back().ended)
      earlier_trials_.push_back({WallSeconds(trial.attempts.back()), SIZE_MAX});
  return earlier_trials_;
}

// "from 3 finished trials" or "after 2 iterations"; empty: too little evidence.
std::string BatchView::EvidenceText(const EtaEvidence& evidence) {
  if (const size_t n = evidence.finished.size(); n > 0)
    return fmt::format("from {} finished {}", n, n == 1 ? "trial" : "trials");
  uint64_t iterations = 0;
  for (const RunningTrial& trial : evidence.running) iterations = std::max(iterations, trial.iterations);
  return iterations >= 2 ? fmt::format("after {} iterations", iterations) : "";
}

std::optional<double> BatchView::TimeLeft() {
  totals_.left_from.clear();
  if (!running_) {
    return std::nullopt;
  }
  EtaEvidence evidence;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const BatchRow& row = rows_[i];
    if (row.state == TrialState::kRunning) {
      evidence.running.push_back({row.elapsed_s.value_or(0), row.progress.value_or(0), trials_[i].point, row.iterations});
    } else if (IsFinished(row.state)) {
      evidence.finished.push_back({row.elapsed_s.value_or(0), trials_[i].point});
    } else if (!IsFinal(row.state)) {
      evidence.waiting.push_back(trials_[i].point);
    }
  }
  if (evidence.running.empty() && !totals_.waits_for.empty()) return std::nullopt;  // the length of the queue is unknown
  evidence.to_come = totals_.to_come;
  evidence.at_once = evidence.running.size();
  if (evidence.finished.empty()) evidence.finished = EarlierTrials();
  totals_.left_from = EvidenceText(evidence);
  return EstimateTimeLeft(evidence);
}

// "eval/return 487.3, number 12: lr=0.0021 num_epochs=7"; empty: no search, or it has no result yet.
std::string BatchView::BestSoFar() const {
  const SearchRecord& search = record().search;
  if (!search.open.is_object()) return "";
  const auto open = ReadTolerantly<SearchOpening>(search.open);
  const double sign = open.maximize() ? 1 : -1;
  const Suggestion* best = nullptr;
  uint64_t best_number = 0;
  for (const auto& [number, one] : search.suggestions) {
    const bool counts = one.value && std::isfinite(*one.value);
    if (counts && (best == nullptr || sign * (*one.value - *best->value) > 0)) best = &one, best_number = number;
  }
  if (best == nullptr) return "";
  const auto point =
      std::find_if(trials_.begin(), trials_.end(), [&](const Trial& trial) { return trial.plan.point_id == best->point_id; });
  return fmt::format("{} {:.6g}, number {}{}", open.metric, *best->value, best_number,
                     point == trials_.end() ? "" : ": " + point->plan.name);
}

BatchProgress BatchView::Progress() const {
  BatchProgress batch;
  const std::filesystem::path folder = std::filesystem::absolute(folder_.out).lexically_normal();
  batch.head.experiment = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  batch.head.started = record().sessions.empty() ? now_ : record().sessions.back().started;
  batch.head.updated = now_;
  batch.head.state = State();
  batch.head.elapsed_s = totals_.elapsed_s;
  batch.head.eta_s = totals_.left_s;
  batch.head.waits_for = totals_.waits_for;
  batch.to_come = totals_.to_come;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const PlanLine& plan = trials_[i].plan;
    const BatchRow& row = rows_[i];
    const TrialRecord* known = record().Find(plan.trial_id);
    const unsigned attempt =
        known != nullptr && !known->attempts.empty() ? known->attempts.back().number : trials_[i].measured_attempt;
    batch.trials.push_back(
        {plan.trial_id, row.name, plan.seed, row.state, attempt, row.progress, row.sps, row.episode_return, row.why});
  }
  return batch;
}

}  // namespace backplane
