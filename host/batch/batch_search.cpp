#include "batch/batch_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/suggest.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Suggestions in a row that the sweep's rules drop. After so many, the rest of the space is too small to hit by chance.
constexpr uint64_t kMostDroppedInARow = 100;
constexpr char kDerive[] = "; `derive` can compute a valid value instead of dropping a suggestion";

bool WasAsked(const Suggestion& suggestion) { return !suggestion.params.is_null(); }

}  // namespace

BatchSearch::BatchSearch(Plan* plan, std::filesystem::path out) : plan_(*plan), terms_(*plan->search), out_(std::move(out)) {}

json BatchSearch::OpenRequest(const std::string& direction) const {
  json open = {{"op", "open"},
               {"name", plan_.base.experiment.name},
               {"method", terms_.method},
               {"seed", terms_.seed},
               {"metric", terms_.metric},
               {"space", plan_.search_space},
               {"pruner", terms_.pruner}};
  if (!direction.empty()) open["direction"] = direction;
  return open;
}

void BatchSearch::Regrow(const SearchRecord& known) {
  for (const auto& [number, suggestion] : known.suggestions) {
    if (!WasAsked(suggestion)) continue;
    Take(number, plan_.Suggest(number, suggestion.params));
    if (suggestion.state.empty()) untold_.insert(number);
  }
  if (IsOver(known)) AddConfirming(known);
}

void BatchSearch::Take(uint64_t number, const Suggested& suggested) {
  if (!suggested.point) {
    no_point_[number] = suggested.why;
    ++dropped_in_a_row_;
    return;
  }
  dropped_in_a_row_ = 0;
  ++with_point_;
  Searched& searched = points_[*suggested.point];
  searched.numbers.push_back(number);
  if (!suggested.is_new) return;
  for (size_t i = plan_.trials.size(); i-- > 0 && plan_.trials[i].point == *suggested.point;) {
    searched.trials.insert(searched.trials.begin(), i);
    point_of_trial_[i] = *suggested.point;
  }
}

bool BatchSearch::IsOver(const SearchRecord& known) const {
  return with_point_ >= terms_.trials && untold_.empty() && !known.open.is_null();
}

std::string BatchSearch::WhyNotTheSame(const SearchRecord& known) const {
  if (known.open.is_null()) return "";
  const std::string changes = WhatChanged(known.open, OpenRequest(terms_.direction.value_or("")));
  if (changes.empty()) return "";
  return fmt::format(
      "sweep.search has changed since these results were made: {}\n"
      "no trial was started\n"
      "hint: --fresh moves the old results aside and starts from scratch\n",
      changes);
}

void BatchSearch::Start(const SearchRecord& known, const std::filesystem::path& log, SearchWait wait) {
  session_ = std::make_unique<SearchSession>(log, OpenRequest("maximize"), std::move(wait));  // throws if it cannot start
  if (!known.open.is_null() && !adopts_) session_->Replay(ResultsFolder{out_}.events());
}

void BatchSearch::Begin(EventLog* log, int direction) {
  log_ = log;
  const SearchRecord& known = log_->record().search;
  std::string word = terms_.direction.value_or(direction == 0 ? "" : direction > 0 ? "maximize" : "minimize");
  if (!known.open.is_null() && word.empty()) word = known.open.value("direction", "");
  if (word.empty())
    throw SearchError(fmt::format("{}: expected sweep.search.objective.direction, because the direction of '{}' is unknown",
                                  Place(terms_.metric_mark), terms_.metric));
  if (known.open.is_null()) {
    session_->Open(OpenRequest(word), log_);
  } else if (adopts_) {
    session_->Adopt(SearchRecord(known), OpenRequest(word), log_);
  }
  // Completes records that the last session had no time to write.
  for (const auto& [point, searched] : points_) {
    for (const uint64_t number : searched.numbers)
      if (Known(number).point_id.empty()) log_->Append(SearchPoint{number, plan_.points[point].id, ""});
  }
  for (const auto& [number, why] : no_point_)
    if (!IsTold(number)) Fail(number);
}

void BatchSearch::Fail(uint64_t number) {
  session_->Send({{"op", "tell"}, {"number", number}, {"state", "fail"}}, log_);
  untold_.erase(number);
}

bool BatchSearch::Grow(const Schedule& schedule) {
  while (WantsMore()) {
    const json reply = session_->Send(json{{"op", "ask"}}, log_);
    const auto number = reply.at("number").get<uint64_t>();
    const Suggested suggested = plan_.Suggest(number, reply.at("params"));
    untold_.insert(number);
    Take(number, suggested);
    log_->Append(SearchPoint{number, suggested.point ? plan_.points[*suggested.point].id : "", suggested.why});
    if (!suggested.point) {
      Fail(number);
      if (dropped_in_a_row_ >= kMostDroppedInARow)
        throw SearchError(fmt::format("sweep.search: {} suggestions in a row were dropped; reason for the last one: {}{}",
                                      dropped_in_a_row_, suggested.why, suggested.why.starts_with("where") ? kDerive : ""));
      continue;
    }
    if (suggested.is_new) return true;
    TellEnded(schedule);
  }
  return false;
}

TrialFolder BatchSearch::FolderOf(size_t trial) const { return TrialFolderOf(out_, plan_.trials[trial].id); }

MetricFollower& BatchSearch::FollowerOf(uint64_t number, size_t trial) {
  const auto [at, fresh] = followers_.try_emplace(number, FolderOf(trial), terms_.metric);
  const Suggestion& known = Known(number);
  if (fresh && !known.values.empty()) at->second.Skip(known.values.back().first);
  return at->second;
}

// Reports up to the step at which the search decides. Writes all values since the last look together.
void BatchSearch::Report(uint64_t number, size_t trial) {
  if (!terms_.Prunes() || Known(number).asked_to_stop) return;
  FollowerOf(number, trial).Read([&](uint64_t step, double value) {
    const json reply = session_->Send({{"op", "report"}, {"number", number}, {"step", step}, {"value", value}}, log_);
    return !reply.value("prune", false);
  });
}

void BatchSearch::Look(const JobTable& jobs) {
  if (!log_ || !terms_.Prunes()) return;
  // A job may end while Report waits for a reply.
  std::vector<Running> running;
  jobs.ForEach([&running](const JobTable::Job& job) {
    running.push_back({job.trial, job.attempt->number(), AttemptFolder(job.attempt->folder())});
  });
  for (const Running& job : running) LookAt(job);
}

void BatchSearch::LookAt(const Running& job) {
  const auto found = point_of_trial_.find(job.trial);
  if (found == point_of_trial_.end()) return;
  const uint64_t number = points_.at(found->second).numbers.front();
  if (!untold_.contains(number)) return;
  Report(number, job.trial);
  if (!Known(number).asked_to_stop || std::exchange(asked_to_end_[job.trial], job.attempt) == job.attempt) return;
  // If the file cannot be written, the trial runs to its end. The search treats both the same.
  std::ofstream(job.folder.prune()) << "pruned by the search\n";
}

void BatchSearch::TellEnded(const Schedule& schedule) {
  const std::vector<uint64_t> untold(untold_.begin(), untold_.end());
  for (const auto& [point, searched] : points_) {
    const bool ended = std::all_of(searched.trials.begin(), searched.trials.end(),
                                   [&](size_t trial) { return IsFinal(schedule.state(trial)); });
    if (!ended) continue;
    for (const uint64_t number : searched.numbers)
      if (untold_.contains(number)) Tell(number, point, schedule);
  }
}

std::optional<double> BatchSearch::MeanOf(const Searched& searched, const Schedule& schedule) const {
  double sum = 0;
  for (const size_t trial : searched.trials) {
    if (schedule.state(trial) != TrialState::kCompleted) return std::nullopt;
    const TrialFolder folder = FolderOf(trial);
    const std::optional<double> value = ObjectiveOf(folder.attempt(folder.LastAttempt()), terms_.metric);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(searched.trials.size());
}

// A misspelt objective would fail every suggestion, so the first trial that completes without it ends the search. A command's
// metrics are unknown before.
void BatchSearch::RequireObjective(const Searched& searched, const Schedule& schedule) const {
  for (const auto& [number, known] : log_->record().search.suggestions)
    if (known.value || !known.values.empty()) return;
  for (const size_t trial : searched.trials) {
    if (schedule.state(trial) != TrialState::kCompleted) continue;
    const TrialFolder folder = FolderOf(trial);
    const std::vector<std::string> names = RecordedMetrics(folder.attempt(folder.LastAttempt()));
    const std::optional<Goal> goal = GoalOfMeasure(terms_.metric);
    if (std::ranges::find(names, goal ? goal->metric : terms_.metric) != names.end()) return;
    throw ObjectiveError(fmt::format("{}: error: {}: expected a metric that trials record, got '{}'{} (trial {} recorded {})",
                                     Place(terms_.metric_mark), kSearchMetric, terms_.metric,
                                     DidYouMean(Nearest(terms_.metric, Candidates(names))), plan_.trials[trial].id,
                                     names.empty() ? "no metric" : fmt::format("{}", fmt::join(names, ", "))));
  }
}

// A trial may end before it is stopped. It still counts as pruned, so that results do not depend on the load of the machine.
void BatchSearch::Tell(uint64_t number, size_t point, const Schedule& schedule) {
  const Searched& searched = points_.at(point);
  const uint64_t first = searched.numbers.front();
  if (number == first) Report(number, searched.trials.front());
  json told = {{"op", "tell"}, {"number", number}, {"state", "fail"}};
  const TrialState state = schedule.state(searched.trials.front());
  if (state == TrialState::kPruned || (Known(first).asked_to_stop && state == TrialState::kCompleted)) {
    told["state"] = "pruned";
    if (const auto mean = MeanOf(searched, schedule)) told["at_end"] = *mean;  // it ended before it could be stopped
  } else if (const auto mean = MeanOf(searched, schedule)) {
    told["state"] = "complete";
    told["value"] = *mean;
  } else {
    RequireObjective(searched, schedule);
  }
  session_->Send(told, log_);
  untold_.erase(number);
  followers_.erase(number);
}

bool BatchSearch::Confirm() {
  if (!log_ || confirms_ || !IsOver(log_->record().search)) return false;
  const size_t before = plan_.trials.size();
  AddConfirming(log_->record().search);
  return plan_.trials.size() > before;
}

void BatchSearch::AddConfirming(const SearchRecord& known) {
  confirms_ = true;
  if (terms_.confirm_top == 0) return;
  const double sign = known.open.value("direction", "") == "minimize" ? -1 : 1;
  std::vector<std::pair<double, size_t>> best;  // smaller is better
  for (const auto& [point, searched] : points_) {
    const Suggestion& first = known.suggestions.at(searched.numbers.front());
    if (first.value) best.emplace_back(-sign * *first.value, point);
  }
  std::sort(best.begin(), best.end());
  for (size_t i = 0; i < std::min<size_t>(best.size(), terms_.confirm_top); ++i)
    plan_.Confirm(best[i].second, terms_.confirm_seeds);
}

uint64_t BatchSearch::most_searched() const {
  const uint64_t seeds = points_.empty() ? plan_.Checked().trials.size() / std::max<size_t>(plan_.Checked().points.size(), 1)
                                         : points_.begin()->second.trials.size();
  return std::max<uint64_t>(terms_.trials * std::max<uint64_t>(seeds, 1), plan_.trials.size());
}

uint64_t BatchSearch::most_trials() const {
  return confirms_ ? plan_.trials.size() : most_searched() + terms_.confirm_top * terms_.confirm_seeds;
}

}  // namespace backplane
