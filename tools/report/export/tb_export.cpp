#include "export/tb_export.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "record/attempt_json.hpp"
#include "record/budget_cut.hpp"
#include "record/metric_series.hpp"
#include "tf_events/tf_events.hpp"

namespace backplane {
namespace {

constexpr size_t kLongestName = 150;  // file systems take 255 bytes, and an id may follow
constexpr size_t kIdDigits = 8;

std::string MadeSafe(std::string name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=,+-";
  for (char& c : name) {
    c = kAllowed.find(c) == std::string_view::npos ? '_' : c;
  }
  if (name.starts_with('.')) {
    name.front() = '_';  // hidden, or another folder
  }
  return name.substr(0, kLongestName);
}

std::vector<Iteration> Lines(const std::filesystem::path& file, const std::optional<BudgetCut>& cut) {
  std::vector<Iteration> lines;
  ForEachIteration(file, [&](const Iteration& line) {
    const bool counts = !cut || line.iteration.value_or(0) <= cut->iteration();
    if (line.step && counts) lines.push_back(line);
  });
  return lines;
}

// Replaces a non-finite number, which is no point in time.
double Seconds(const std::optional<double>& value) { return value && std::isfinite(*value) ? *value : 0; }

// The index of the attempt from which all later ones resumed.
size_t FirstThatCounts(const std::vector<AttemptRecord>& attempts) {
  size_t first = attempts.size() - 1;
  while (first > 0 && attempts[first].start.resumed) {
    --first;
  }
  return first;
}

bool WriteAttempt(const AttemptRecord& attempt, const std::vector<Iteration>& lines, const std::filesystem::path& to) {
  if (lines.empty()) {
    return false;
  }
  // A resumed attempt also counts the seconds of earlier attempts.
  const double before = attempt.start.resumed ? Seconds(lines.front().time.t) - Seconds(lines.front().time.iteration_s) : 0;
  TfEventFile file(to / TfFileName(attempt.started, attempt.number), attempt.started);
  const auto time_of = [&](const Iteration& line) { return attempt.started + std::max(0.0, Seconds(line.time.t) - before); };
  // Discard values of earlier attempts and exports for these steps.
  if (attempt.number > 1) {
    file.SessionStart(time_of(lines.front()), static_cast<int64_t>(*lines.front().step));
  }
  for (const Iteration& line : lines) {
    for (const MetricValue& one : MetricSeries(line)) {
      if (one.of != MetricValue::Of::kAxis) {
        file.Scalar(time_of(line), static_cast<int64_t>(*line.step), one.name, one.value);
      }
    }
  }
  file.Flush();
  return true;
}

}  // namespace

std::vector<std::string> FolderNames(const std::vector<PlanLine>& trials, bool several_seeds) {
  std::vector<std::string> names;
  std::map<std::string, int> uses;
  for (const PlanLine& trial : trials) {
    names.push_back(MadeSafe(DisplayName(trial, several_seeds)));
    ++uses[names.back()];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (uses[names[i]] > 1) {
      names[i] += "-" + trials[i].trial_id.substr(0, kIdDigits);
    }
  }
  return names;
}

size_t ExportTensorBoard(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                         const std::filesystem::path& to) {
  std::vector<PlanLine> trials;
  std::copy_if(plan.begin(), plan.end(), std::back_inserter(trials), [](const PlanLine& line) { return !line.dropped; });
  const std::vector<std::string> names = FolderNames(trials, HasSeveralSeeds(plan));
  size_t exported = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialRecord* trial = record.Find(trials[i].trial_id);
    if (trial == nullptr || trial->attempts.empty()) {
      continue;
    }
    const WithinBudget within = CutAtBudget(folder, *trial, trials[i].budget);
    const std::vector<AttemptRecord>& attempts = within.record.attempts;
    bool any = false;
    for (size_t a = FirstThatCounts(attempts); a < attempts.size(); ++a) {
      const std::filesystem::path metrics = folder.attempt(trial->id, attempts[a].number).metrics();
      any |= WriteAttempt(attempts[a], Lines(metrics, within.cut), to / names[i]);
    }
    exported += any ? 1 : 0;
  }
  return exported;
}

}  // namespace backplane
