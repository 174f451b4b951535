#include "results/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace backplane {
namespace {

// Hand-written configurations may lack them; the defaults are 1.
uint64_t CountAt(const TrialData& trial, const char* path) {
  const nlohmann::json value = trial.At(path);
  return value.is_number_unsigned() || (value.is_number_integer() && value > 0) ? value.get<uint64_t>() : 1;
}

bool HasSpeed(const TrialData& trial) {
  const Number* sps = trial.Find("SPS");
  return trial.usable() && sps != nullptr && std::isfinite(sps->value) && sps->value > 0;
}

// If iterations were not recorded, assumes that all but the first were measured, over the whole time.
bool IsShort(const TrialData& trial) {
  const Number *sps = trial.Find("SPS"), *all = trial.Find("iterations"), *seconds = trial.Find("measured_s");
  double iterations = sps->of == "iterations" ? static_cast<double>(sps->n) : 0;
  if (seconds == nullptr) {
    seconds = trial.Find("wall_s");
    iterations = all != nullptr ? all->value - 1 : 0;
  }
  return seconds != nullptr && seconds->value < kLongEnoughSeconds && iterations < kEnoughIterations;
}

// "FAILED (oom): no memory left"
std::string FailureOf(const TrialData& trial) {
  if (trial.usable()) return Word(trial.state) + std::string(", but its result.json gives no speed");
  if (trial.state == TrialState::kPlanned && !trial.outcome)
    return trial.why.empty() ? "not started" : "not started: " + trial.why;
  if (trial.state == TrialState::kRunning) return "not finished";
  const std::string state = trial.state == TrialState::kPlanned ? "interrupted" : Word(trial.state);
  return state + (trial.outcome ? fmt::format(" ({})", Word(trial.outcome)) : "") + (trial.why.empty() ? "" : ": " + trial.why);
}

// In order of first appearance over the seeds.
std::string Failures(const std::vector<std::string>& failures, size_t trials) {
  if (trials == 1) return failures.empty() ? "" : failures.front();
  std::vector<std::pair<std::string, size_t>> counted;
  for (const std::string& failure : failures) {
    auto found = std::find_if(counted.begin(), counted.end(), [&](const auto& one) { return one.first == failure; });
    if (found == counted.end()) found = counted.insert(found, {failure, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [failure, count] : counted) {
    text += fmt::format("{}{} of {} seeds {}", text.empty() ? "" : "; ", count, trials, failure);
  }
  return text;
}

std::optional<Number> OverSeeds(const std::vector<const TrialData*>& usable, const std::string& measure) {
  std::vector<Number> numbers;
  for (const TrialData* trial : usable) {
    if (const Number* number = trial->Find(measure)) numbers.push_back(*number);
  }
  return backplane::OverSeeds(numbers);
}

void Measure(const Combined& combined, Setting* setting) {
  std::vector<const TrialData*> usable;
  std::vector<std::string> failures;
  for (const size_t i : setting->trials) {
    const TrialData& trial = combined.trials[i].data;
    if (setting->cores == 0) setting->cores = trial.cores.size();
    if (!HasSpeed(trial)) {
      failures.push_back(FailureOf(trial));
      continue;
    }
    usable.push_back(&trial);
    setting->speeds.push_back(trial.Find("SPS")->value);
    setting->is_short = setting->is_short || IsShort(trial);
  }
  setting->usable = usable.size();
  setting->failure = Failures(failures, setting->trials.size());
  setting->sps = OverSeeds(usable, "SPS");
  setting->wall_s = OverSeeds(usable, "wall_s");
  setting->episode_return = OverSeeds(usable, "return");
}

}  // namespace

std::vector<Setting> GatherSettings(const Combined& combined, const SeriesOfTrials& series) {
  std::map<std::tuple<size_t, uint64_t, uint64_t>, Setting> sorted;  // by series, parallelism, runners
  for (size_t i = 0; i < combined.trials.size(); ++i) {
    const TrialData& trial = combined.trials[i].data;
    const uint64_t runners = CountAt(trial, kRunnersPath), rows = CountAt(trial, kRowsPath);
    Setting& setting = sorted[{series.of[i], runners * rows, runners}];
    if (setting.trials.empty()) {
      setting.series = series.of[i];
      setting.name = fmt::format("{} x {}", runners, rows);
      setting.num_env_runners = runners;
      setting.num_envs_per_env_runner = rows;
    }
    setting.trials.push_back(i);
  }
  std::vector<Setting> settings;
  for (auto& [place, setting] : sorted) {
    Measure(combined, &setting);
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace backplane
