// Speed gained per additional env; docs/reports.md has the definitions.
//
//   parallelism = runners x environments per runner;  speedup = SPS / SPS of the baseline
//   efficiency % = 100 x speedup / parallelism;  core efficiency % = 100 x speedup / min(runners, granted cores)
// With more rows than cores, the band uses core efficiency: no setting can use more than all cores.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/report_section.hpp"
#include "results/combine.hpp"
#include "statistics/log_speed.hpp"

namespace backplane {

inline constexpr double kIdealPct = 100, kExcellentPct = 80, kGoodPct = 60;

enum class EfficiencyBand { kIdeal = 1, kExcellent, kGood, kBottleneck };
// Classifies the exact number, not its printed form: ideal >= 100, excellent >= 80, good >= 60.
EfficiencyBand BandOf(double efficiency_pct);
const char* BandName(EfficiencyBand band);
// "excellent" if the whole interval lies in that band; else a wider word: "good or better", "good or worse", "not measured well
// enough". An efficiency without an interval is not measured well enough.
std::string BandWord(const Number& efficiency_pct);

// A setting that measured less than both is short.
inline constexpr double kLongEnoughSeconds = 5, kEnoughIterations = 3;

// One point: trials that differ only in their seed.
struct Setting {
  size_t series = 0;
  std::string name;  // "2 x 4": runners x environments per runner
  uint64_t num_env_runners = 1, num_envs_per_env_runner = 1;
  uint64_t cores = 0;               // granted; 0: it never started
  std::vector<size_t> trials;       // indices into Combined::trials
  size_t usable = 0;                // number of trials with a speed
  std::string failure;              // reason for missing speeds: "2 of 3 seeds FAILED (oom): ..."; empty: none missing
  std::vector<double> speeds;       // SPS of each usable seed
  statistics::PooledSpread spread;  // of all settings on the same machine
  std::optional<Number> sps, wall_s, episode_return;  // over its seeds; with one seed over iterations, or episodes
  bool is_short = false;                              // measured less than 5 s and fewer than 3 iterations after the first
  std::optional<double> speedup, efficiency_pct, core_efficiency_pct;
  std::string band;  // BandWord, or "too few seeds"; empty: no speed

  uint64_t parallelism() const { return num_env_runners * num_envs_per_env_runner; }
  bool judged_by_cores() const { return cores > 0 && parallelism() > cores; }
};

// Settings that differ only in runners and rows, on comparable machines. They share a baseline.
struct ScoredSeries {
  std::string label;  // distinguishes it from the others; empty if there is one
  size_t group = 0;
  std::optional<size_t> baseline;  // index into settings
  std::string baseline_note;       // part of every output if the baseline's parallelism is not 1
};

struct Recommendation {
  std::string goal;               // "throughput", "efficiency", "balanced"
  std::optional<size_t> setting;  // absent: nothing qualifies
  std::optional<size_t> nearest;  // then: the closest setting, and
  std::string why;                // a sentence: the reason for this setting, or the limit that the nearest one broke
};

struct ParallelEfficiency {
  std::vector<Setting> settings;  // by series, then parallelism, then runners
  std::vector<ScoredSeries> series;
  std::vector<std::vector<Recommendation>> recommendations;  // [series][3]
};

// `baseline` as in report.baseline: values by path, a point's name, or null for the setting with one env. `outside_identity` as
// in FindSeries.
ParallelEfficiency AnalyseParallelEfficiency(const Combined& combined, const nlohmann::json& baseline,
                                             const BalancedLimits& balanced = {},
                                             const std::set<std::string>& outside_identity = {});

}  // namespace backplane
