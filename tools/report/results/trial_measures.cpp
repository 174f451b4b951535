#include "results/trial_measures.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "machine/resource_measures.hpp"
#include "record/best_measures.hpp"
#include "record/finite_tail.hpp"
#include "record/measurements.hpp"
#include "record/metric_series.hpp"
#include "record/phases.hpp"
#include "results/resource_series.hpp"
#include "results/steps_to.hpp"

namespace backplane {
namespace {

constexpr double kBytesPerMb = 1024.0 * 1024.0;
const char* const kSps = "SPS";
const char* const kSecondsOfIteration = "iteration_s";

void AddReading(const std::string& name, const std::optional<double>& value, TrialData* trial) {
  if (value) trial->measures[name] = MeanOf(*value, std::nullopt, 1, "");
}

void AddRate(const std::string& name, const std::optional<double>& value, TrialData* trial) {
  AddReading(name, value, trial);
  if (value) trial->measures[name].is_rate = true;
}

void AddTime(const std::string& name, const std::optional<double>& value, TrialData* trial) {
  AddReading(name, value, trial);
  if (value) trial->measures[name].is_time = true;
}

std::optional<double> Ratio(const std::optional<double>& over, const std::optional<double>& under, double factor = 1) {
  return over && under && *under > 0 ? std::optional(factor * *over / *under) : std::nullopt;
}

void AddPhases(const std::vector<PhaseTime>& phases, TrialData* trial) {
  if (phases.empty()) return;
  // A phase without time is missing in the file but was measured.
  for (const std::string_view name : kPhaseNames) AddReading("phase/" + std::string(name), 0, trial);
  for (const PhaseTime& phase : phases) AddReading("phase/" + phase.name, 100 * phase.share, trial);
}

// Consecutive reports of a command are not independent: no interval.
void AddStatistics(const std::map<std::string, Spread>& statistics, TrialData* trial) {
  const bool by_command = trial->IsByCommand();
  for (const auto& [name, spread] : statistics) {
    if (!spread.mean) continue;
    trial->measures[name] = MeanOf(*spread.mean, by_command ? std::nullopt : spread.sd, spread.n.value_or(1),
                                   !spread.n    ? ""
                                   : by_command ? "reports"
                                                : "episodes");
  }
}

void AddResult(const Measurements& found, TrialData* trial) {
  const TrialResult& result = found.result;
  const std::optional<double> wall_s = result.trial_s ? result.trial_s : result.wall_s;
  AddTime("wall_s", wall_s, trial);
  AddTime("minutes", Ratio(wall_s, 60), trial);
  AddRate(kSps, result.sps, trial);
  AddRate("sampling_sps", result.sampling_sps, trial);
  AddReading("iterations", result.iterations, trial);
  if (result.best) {
    AddReading(BestNameOf(result.best->metric), result.best->value, trial);
    AddReading(kBestIteration, result.best->iteration, trial);
  }
  AddReading("env_steps", result.env_steps, trial);
  AddReading("episodes", result.episodes, trial);
  AddTime("seconds_per_episode", Ratio(wall_s, result.episodes), trial);
  AddReading("steps_per_episode", Ratio(result.env_steps, result.episodes), trial);
  AddReading("threads", result.threads, trial);
  AddReading("learner_threads", result.learner_threads, trial);
  if (result.rollout) AddReading("balance", result.rollout->balance, trial);
  AddReading("chunk_rows", result.chunk_rows, trial);
  if (result.monitors) AddTime("cpu_s", result.monitors->process_cpu_s, trial);
  if (result.monitors) AddReading("monitor_cpu_pct", Ratio(result.monitors->cpu_s, result.monitors->process_cpu_s, 100), trial);
  AddPhases(result.phases, trial);
  for (const auto& [name, value] : found.time) AddReading(name, value, trial);
  trial->registered = result.measures;
  trial->return_range = result.return_range;
  AddStatistics(found.statistics, trial);
  if (const std::optional<ReachedPrecision>& precision = result.precision) {
    AddReading("precision/wanted_pct", precision->wanted_pct, trial);
    AddReading("precision/reached_pct", precision->reached_pct, trial);
    AddReading("precision/iterations", static_cast<double>(precision->iterations), trial);
    AddReading("precision/seconds", precision->seconds, trial);
    AddReading("precision/missed", precision->reached ? 0 : 1, trial);
  }
  trial->facts = found.facts;
  if (result.data) trial->shrinks = result.data->shrinks;
}

// Excludes the attempt's first iteration as warm-up, with any number.
std::vector<double> Steady(const std::vector<IterationValue>& values, const std::string& name) {
  std::vector<double> steady;
  bool warmed_up = false;
  for (const IterationValue& one : values) {
    if (one.name != name) continue;
    if (warmed_up) steady.push_back(one.value);
    warmed_up = true;
  }
  return steady;
}

// Keeps the value: total steps over total time differs from the mean of speeds.
void AddSpread(const std::string& measure, const std::vector<double>& speeds, TrialData* trial) {
  const auto found = trial->measures.find(measure);
  if (found == trial->measures.end() || speeds.empty()) return;
  found->second = MeanOf(found->second.value, Mean(speeds, "").sd, speeds.size(), "iterations");
  found->second.is_rate = true;
}

void AddSpeeds(const std::vector<IterationValue>& last_attempt, TrialData* trial) {
  AddSpread(kSps, Steady(last_attempt, "sps"), trial);
  AddSpread("sampling_sps", Steady(last_attempt, "sampling_sps"), trial);
  double seconds = 0;
  for (const double one : Steady(last_attempt, kSecondsOfIteration)) seconds += one;
  if (!last_attempt.empty()) AddTime("measured_s", seconds, trial);
}

struct AllAttempts {
  std::vector<IterationValue> values;
  std::set<uint64_t> first;  // first iterations of attempts, and initial evaluations
};

void AddFirst(const std::vector<IterationValue>& attempt, std::set<uint64_t>* first) {
  for (const IterationValue& one : attempt) {
    first->insert(one.iteration);
    // Initial evaluations are also numbered 0 but take no time of an iteration.
    if (one.iteration > 0 || one.name == kSecondsOfIteration) return;
  }
}

// A resumed attempt repeats no earlier iterations.
AllAttempts AllIterations(const ResultsFolder& folder, const WithinBudget& within, std::vector<IterationValue> values) {
  const TrialRecord& record = within.record;
  AllAttempts all{std::move(values), {}};
  AddFirst(all.values, &all.first);
  for (size_t i = record.attempts.size(); i-- > 1 && record.attempts[i].start.resumed;) {
    std::vector<IterationValue> earlier = ReadIterations(folder.attempt(record.id, record.attempts[i - 1].number), within.cut);
    if (!all.values.empty()) {
      std::erase_if(earlier, [&](const IterationValue& one) { return one.iteration >= all.values.front().iteration; });
    }
    AddFirst(earlier, &all.first);
    all.values.insert(all.values.begin(), earlier.begin(), earlier.end());
  }
  return all;
}

void AddCurves(const AllAttempts& attempts, TrialData* trial) {
  static const std::set<std::string> kOfTheHost = {"env_steps", "episodes", "t", "sampling_sps"};
  std::map<uint64_t, CurvePoint> places;
  for (const IterationValue& one : attempts.values) {
    CurvePoint& place = places[one.iteration];
    place.iteration = one.iteration;
    place.warms_up = attempts.first.contains(one.iteration);
    if (one.name == "t") place.time_s = one.value;
  }
  double env_steps = 0;  // per line: the initial evaluation and iteration 0 share a number
  for (const IterationValue& one : attempts.values) {
    if (one.name == "env_steps") env_steps = one.value;
    if (kOfTheHost.contains(one.name)) continue;
    CurvePoint point = places[one.iteration];
    point.env_steps = env_steps;
    point.value = one.value;
    trial->curves[one.name == "sps" ? kSps : one.name].push_back(point);
  }
}

// Only the result has the final evaluation, unless the last iteration had one.
void AddLastEvaluation(const std::optional<uint64_t>& evaluated_at, TrialData* trial) {
  const Number *iterations = trial->Find("iterations"), *env_steps = trial->Find("env_steps"), *wall_s = trial->Find("wall_s");
  if (!iterations || !env_steps || !wall_s || evaluated_at != iterations->value) return;
  const auto last = static_cast<uint64_t>(iterations->value);
  for (const auto& [name, number] : trial->measures) {
    if (!name.starts_with("eval/")) continue;
    std::vector<CurvePoint>& curve = trial->curves[name];
    if (curve.empty() || curve.back().iteration < last) curve.push_back({last, env_steps->value, wall_s->value, number.value});
  }
}

// The result sums episodes and evaluations; resources have their own file.
bool IsSummedUpElsewhere(const std::string& name) {
  return name == kSps || IsOfEpisodes(name) || name.starts_with(resource_measure::kPrefix);
}

std::vector<double> LastOf(const std::vector<CurvePoint>& curve, size_t count) {
  std::vector<double> values;
  for (size_t i = curve.size() - std::min(count, curve.size()); i < curve.size(); ++i) values.push_back(curve[i].value);
  return values;
}

std::vector<double> FiniteAmongLast(const std::vector<CurvePoint>& curve) {
  std::vector<double> values = LastOf(curve, FiniteTail::Window(curve.size()));
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

// Matches "device/peak_mb", "rss_peak_mb", but not "speaker/loss".
bool IsPeak(const std::string& name) {
  const auto ends = [&](size_t place) { return place >= name.size() || name[place] == '_' || name[place] == '/'; };
  const size_t at = name.find("peak");
  return at != std::string::npos && (at == 0 || ends(at - 1)) && ends(at + 4);
}

// The maximum of all iterations.
void AddLastTenths(TrialData* trial) {
  for (const auto& [name, curve] : trial->curves) {
    if (IsSummedUpElsewhere(name)) continue;
    if (IsPeak(name)) {
      const auto less = [](const CurvePoint& a, const CurvePoint& b) {
        return !std::isnan(b.value) && (std::isnan(a.value) || a.value < b.value);
      };
      trial->measures[name] = Reading(std::max_element(curve.begin(), curve.end(), less)->value);
      continue;
    }
    const std::vector<double> finite = FiniteAmongLast(curve);
    if (const auto share = trial->not_finite.find(name); share == trial->not_finite.end()) {
      trial->measures[name] = Mean(LastOf(curve, std::max<size_t>(1, curve.size() / 10)), "iterations");
    } else if (share->second.ever) {
      trial->measures[name] = finite.empty() ? Reading(std::nan("")) : Mean(finite, "iterations");
    }
  }
}

// Skips a plugin's means over episodes: their values come from the result, not from the curve.
void AddNotFinite(TrialData* trial) {
  const bool by_command = trial->IsByCommand();
  for (const auto& [name, curve] : trial->curves) {
    if ((IsSummedUpElsewhere(name) && !(by_command && IsOfEpisodes(name))) || IsPeak(name)) continue;
    FiniteTail tail;
    for (const CurvePoint& point : curve) tail.Add(point.value);
    const uint64_t last = std::min(FiniteTail::Window(tail.values()), tail.values());
    const uint64_t finite = FiniteAmongLast(curve).size();
    if (finite == last) continue;
    trial->not_finite[name] = {finite, last, tail.was_finite()};
    if (!tail.was_finite()) trial->measures.erase(name);
  }
}

void AddPeak(const std::string& name, const std::optional<double>& value, TrialData* trial) {
  if (!value || *value <= 0) return;
  const Number* known = trial->Find(name);
  AddReading(name, std::max(*value, known != nullptr ? known->value : 0), trial);
}

void AddResources(const std::filesystem::path& file, TrialData* trial) {
  for (const auto& [name, number] : ReadResourceSeries(file)) {
    trial->measures[resource_measure::kPrefix + name] = number;
    if (name == resource_measure::ColumnOf(resource_measure::kRssPeakMb)) AddPeak("rss_peak_mb", number.max, trial);
    if (name == resource_measure::ColumnOf(resource_measure::kVramUsedMb)) AddPeak("vram_peak_mb", number.max, trial);
  }
}

}  // namespace

void ReadTrialMeasures(const ResultsFolder& folder, const WithinBudget& within, TrialData* trial) {
  const TrialRecord& record = within.record;
  if (record.attempts.empty()) return;
  const AttemptRecord& last = record.attempts.back();
  const AttemptFolder attempt = folder.attempt(record.id, last.number);
  trial->resumed = last.start.resumed;
  const Measurements found = ReadMeasurements(attempt, within.cut);
  AddResult(found, trial);
  const std::vector<IterationValue> iterations = ReadIterations(attempt, within.cut);
  AddSpeeds(iterations, trial);
  AddCurves(AllIterations(folder, within, iterations), trial);
  AddLastEvaluation(found.result.evaluated_at, trial);
  AddNotFinite(trial);
  AddLastTenths(trial);
  AddResources(attempt.resources(), trial);
  if (std::optional<Goal> until = GoalOfConfig(trial->config)) AddStepsTo(*std::move(until), trial);
  AddTime("attempt_s", last.end.wall_s, trial);
  if (last.end.peak_rss_bytes) AddPeak("rss_peak_mb", static_cast<double>(*last.end.peak_rss_bytes) / kBytesPerMb, trial);
}

}  // namespace backplane
