#include "kinds/parallel_efficiency_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kinds/sections.hpp"
#include "kinds/setting_text.hpp"
#include "machine/resource_measures.hpp"
#include "results/setting_speed.hpp"

namespace backplane {
namespace {

Cell MaybeCell(const std::optional<Number>& number) { return number ? Cell{*number} : Cell{}; }

struct Resource {
  const char *measure, *title, *unit;
  bool peak, in_text;
};
constexpr Resource kResources[] = {
    {resource_measure::kCpuQuotaPct, "CPU %", "%", true, true},
    {resource_measure::kCpuSystemPct, "CPU % of machine", "%", true, false},
    {resource_measure::kRunQueueWaitPct, "CPU wait %", "%", true, true},
    {resource_measure::kThrottledPeriodsPct, "throttled %", "%", true, false},
    {resource_measure::kPsiCpuSomePct, "CPU pressure %", "%", true, false},
    {resource_measure::kRssMb, "RAM MiB", "MiB", true, true},
    {resource_measure::kMemoryLimitPct, "RAM % of limit", "%", true, true},
    {resource_measure::kRamSystemPct, "RAM % of machine", "%", true, true},
    {resource_measure::kPsiMemorySomePct, "memory pressure %", "%", true, false},
    {resource_measure::kPsiIoSomePct, "disk pressure %", "%", true, false},
    {resource_measure::kGpuUtilPct, "GPU %", "%", true, true},
    {resource_measure::kSmUtilPct, "SM %", "%", true, false},
    {resource_measure::kVramUsedMb, "VRAM MiB", "MiB", true, true},
    {resource_measure::kGpuMemoryPct, "VRAM %", "%", true, false},
    {resource_measure::kGpuPowerW, "power W", "W", true, false},
    {resource_measure::kGpuTemperatureC, "GPU °C", "°C", true, false},
    {"monitor_cpu_pct", "monitors' CPU %", "%", false, false},
};

const Column kSetting{"setting", "runners x envs", "", "runners x environments each"};

}  // namespace

ParallelEfficiencyTables::ParallelEfficiencyTables(const Combined& combined, const ParallelEfficiency& analysis)
    : combined_(combined), analysis_(analysis) {}

Cell ParallelEfficiencyTables::RatioCell(const Setting& setting, const std::optional<double>& ratio) const {
  const Setting* baseline = Of(analysis_.series[setting.series].baseline);
  if (!ratio || !setting.sps) return Cell{};
  if (!baseline) return Reading(*ratio);
  Number number = SpeedRatio(setting, *baseline, *ratio * baseline->sps->value / setting.sps->value);
  number.value = *ratio;  // to the last digit, as the bands have it
  return number;
}

std::string ParallelEfficiencyTables::Ids(const Setting& setting) const {
  std::string ids;
  for (size_t trial : setting.trials) ids += (ids.empty() ? "" : " ") + combined_.trials[trial].data.trial_id;
  return ids;
}

std::string ParallelEfficiencyTables::Remark(const Setting& setting) const {
  std::string remark = setting.failure;
  if (setting.is_short) remark += (remark.empty() ? "" : "; ") + std::string("short measurement");
  if (analysis_.series[setting.series].baseline && Of(analysis_.series[setting.series].baseline) == &setting)
    remark += (remark.empty() ? "" : "; ") + std::string("baseline");
  return remark;
}

std::vector<Column> ParallelEfficiencyTables::ResultColumns() const {
  std::vector<Column> columns = {kSetting};
  const auto column = [&](const char* key, const char* title, const char* unit, const char* doc, int direction, int digits,
                          bool in_text) {
    columns.push_back({key, title, unit, doc, direction, digits, in_text});
  };
  column("sps", "steps/s", "1/s", "environment steps per second, collecting and learning, without the warm-up iteration", 1, 4,
         true);
  column("speedup", "speedup", "", "SPS / SPS of the baseline", 1, 3, true);
  column("efficiency_pct", "efficiency %", "%", "100 x speedup / envs", 1, 4, true);
  column("core_efficiency_pct", "core eff. %", "%", "100 x speedup / min(runners, granted cores)", 1, 4, true);
  column("band", "band", "", BandsText().c_str(), 0, 4, true);
  column("train_time_s", "time s", "s", "time of the training loop", -1, 3, true);
  column("return", "return", "", "mean episode return at the end of training", 1, 3, true);
  column("cpu_pct", "CPU %", "%", "of the granted cores, mean", 0, 3, true);
  column("rss_peak_mb", "RAM MiB", "MiB", "peak resident memory", -1, 4, true);
  column("gpu_pct", "GPU %", "%", "mean utilisation", 0, 3, false);
  column("vram_peak_mb", "VRAM MiB", "MiB", "peak device memory", -1, 4, false);
  column("remark", "remark", "", "", 0, 4, true);
  if (SeveralSeries()) column("series", "series", "", "values that distinguish settings of the same size", 0, 4, false);
  column("num_env_runners", "runners", "", "rollout.num_env_runners", 0, 4, false);
  column("num_envs_per_env_runner", "envs each", "", "rollout.num_envs_per_env_runner", 0, 4, false);
  column("parallelism", "rows", "", "runners x environments", 0, 4, false);
  column("cores", "cores", "", "granted", 0, 4, false);
  column("state", "state", "", "state of the setting's trials", 0, 4, false);
  column("trials", "trials", "", "ids, one per seed", 0, 4, false);
  columns.back().folder = TrialsFolder(combined_);
  return columns;
}

std::vector<Cell> ParallelEfficiencyTables::ResultRow(const Setting& setting) const {
  std::vector<Cell> row{SettingText(setting, analysis_)};
  row.push_back(MaybeCell(setting.sps));
  row.push_back(RatioCell(setting, setting.speedup));
  row.push_back(RatioCell(setting, setting.efficiency_pct));
  row.push_back(RatioCell(setting, setting.core_efficiency_pct));
  row.push_back(setting.band.empty() ? Cell{} : Cell{setting.band});
  row.push_back(MaybeCell(setting.wall_s));
  row.push_back(MaybeCell(setting.episode_return));
  row.push_back(MaybeCell(MeasureOf(combined_, setting.trials, resource_measure::kCpuQuotaPct)));
  row.push_back(PeakCell(setting, "rss_peak_mb"));
  row.push_back(MaybeCell(MeasureOf(combined_, setting.trials, resource_measure::kGpuUtilPct)));
  row.push_back(PeakCell(setting, "vram_peak_mb"));
  row.push_back(Remark(setting));
  if (SeveralSeries()) row.emplace_back(analysis_.series[setting.series].label);
  row.push_back(Reading(static_cast<double>(setting.num_env_runners)));
  row.push_back(Reading(static_cast<double>(setting.num_envs_per_env_runner)));
  row.push_back(Reading(static_cast<double>(setting.parallelism())));
  row.push_back(setting.cores > 0 ? Reading(static_cast<double>(setting.cores)) : Cell{});
  row.push_back(State(setting));
  row.push_back(Ids(setting));
  return row;
}

Table ParallelEfficiencyTables::Results() const {
  Table table{"results", "Throughput and efficiency", ResultColumns(), {}, {}, {}};
  for (size_t i = 0; i < analysis_.settings.size(); ++i) {
    const Setting& setting = analysis_.settings[i];
    table.rows.push_back(ResultRow(setting));
    for (const Recommendation& advice : analysis_.recommendations[setting.series]) {
      if (advice.setting == i && (table.emphasised.empty() || table.emphasised.back() != i)) table.emphasised.push_back(i);
    }
  }
  return table;
}

Cell ParallelEfficiencyTables::PeakCell(const Setting& setting, const char* measure) const {
  const std::optional<double> peak = PeakOf(combined_, setting.trials, measure);
  return peak ? Reading(*peak) : Cell{};
}

std::string ParallelEfficiencyTables::State(const Setting& setting) const {
  std::set<std::string> states;
  for (size_t trial : setting.trials) states.insert(Word(combined_.trials[trial].data.state));
  return fmt::format("{}", fmt::join(states, ", "));
}

Table ParallelEfficiencyTables::Recommended() const {
  Table table{"recommended", "One setting per goal", {}, {}, {}, {}};
  table.columns = {{"goal", "goal", "", ""},
                   {"setting", "runners x envs", "", ""},
                   {"why", "why", "", ""},
                   {"file", "file", "", "ready to run"}};
  for (size_t series = 0; series < analysis_.series.size(); ++series) {
    for (const Recommendation& advice : analysis_.recommendations[series]) {
      const Setting* setting = Of(advice.setting);
      const Setting* nearest = Of(advice.nearest);
      const std::string name = setting
                                   ? SettingText(*setting, analysis_)
                                   : "none" + (nearest ? fmt::format(" (nearest: {})", SettingText(*nearest, analysis_)) : "");
      table.rows.push_back(
          {GoalTitle(advice.goal), name, advice.why, setting ? RecommendedName(analysis_, advice.goal, series) : ""});
    }
  }
  return table;
}

Table ParallelEfficiencyTables::Resources() const {
  Table table{"resources", "Resources while running", {kSetting}, {}, {}, {}};
  std::vector<std::string> absent;
  std::vector<const Resource*> shown;
  for (const Resource& item : kResources) {
    const bool known = std::any_of(analysis_.settings.begin(), analysis_.settings.end(), [&](const Setting& setting) {
      return MeasureOf(combined_, setting.trials, item.measure).has_value();
    });
    if (!known) {
      absent.push_back(item.title);
      continue;
    }
    shown.push_back(&item);
    const std::string key = std::string(item.measure).substr(std::string(item.measure).rfind('/') + 1);
    table.columns.push_back({key, item.title, item.unit, "mean of the samples after the first iteration", 0, 3, item.in_text});
    if (item.peak) table.columns.push_back({key + "_max", "max", item.unit, "largest sample", 0, 3, false});
  }
  for (const Setting& setting : analysis_.settings) {
    std::vector<Cell> row{SettingText(setting, analysis_)};
    for (const Resource* item : shown) {
      const std::optional<Number> number = MeasureOf(combined_, setting.trials, item->measure);
      row.push_back(number ? Cell{*number} : Cell{});
      if (item->peak) row.push_back(PeakCell(setting, item->measure));
    }
    table.rows.push_back(std::move(row));
  }
  if (std::find(absent.begin(), absent.end(), "GPU %") != absent.end()) table.notes.push_back("GPU data not available.");
  const bool whole_device = std::any_of(analysis_.settings.begin(), analysis_.settings.end(), [&](const Setting& setting) {
    const std::optional<Number> whole = MeasureOf(combined_, setting.trials, resource_measure::kGpuWholeDevice);
    return whole && whole->value > 0;
  });
  if (whole_device)
    table.notes.push_back("VRAM MiB covers all users of the GPUs, because the driver did not report the trials' own share.");
  if (!absent.empty()) table.notes.push_back(fmt::format("Not measured: {}.", fmt::join(absent, ", ")));
  return table;
}

}  // namespace backplane
