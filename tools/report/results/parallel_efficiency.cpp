#include "results/parallel_efficiency.hpp"

#include <algorithm>

#include "results/baseline.hpp"
#include "results/recommendation.hpp"
#include "results/series.hpp"
#include "results/setting_speed.hpp"
#include "results/settings.hpp"

namespace backplane {
namespace {

// Divides only once, with more digits than the result shows. Otherwise rounding could move an exact 80 %, or the baseline's
// 100 %, below its band.
double Percent(long double sps, long double of, long double baseline_sps, long double baseline_of) {
  return static_cast<double>(100 * sps * baseline_of / (baseline_sps * of));
}

double CoresUsed(const Setting& setting) { return static_cast<double>(std::min(setting.num_env_runners, setting.cores)); }

std::string Band(const Setting& baseline, const Setting& setting) {
  if (&setting == &baseline) return BandName(EfficiencyBand::kIdeal);  // by definition
  if (!setting.spread.is_enough()) return "too few seeds";
  const std::optional<double>& judged =
      setting.judged_by_cores() && setting.core_efficiency_pct ? setting.core_efficiency_pct : setting.efficiency_pct;
  const double factor = *judged * baseline.sps->value / setting.sps->value;
  return BandWord(SpeedRatio(setting, baseline, factor));
}

void Score(const Setting& baseline, Setting* setting) {
  if (!setting->sps) return;
  const double sps = setting->sps->value, baseline_sps = baseline.sps->value;
  setting->speedup = sps / baseline_sps;
  setting->efficiency_pct =
      Percent(sps, static_cast<double>(setting->parallelism()), baseline_sps, static_cast<double>(baseline.parallelism()));
  if (setting->cores > 0 && baseline.cores > 0) {
    setting->core_efficiency_pct = Percent(sps, CoresUsed(*setting), baseline_sps, CoresUsed(baseline));
  }
  setting->band = Band(baseline, *setting);
}

}  // namespace

EfficiencyBand BandOf(double efficiency_pct) {
  return efficiency_pct >= kIdealPct       ? EfficiencyBand::kIdeal
         : efficiency_pct >= kExcellentPct ? EfficiencyBand::kExcellent
         : efficiency_pct >= kGoodPct      ? EfficiencyBand::kGood
                                           : EfficiencyBand::kBottleneck;
}

const char* BandName(EfficiencyBand band) {
  switch (band) {
    case EfficiencyBand::kIdeal: return "ideal";
    case EfficiencyBand::kExcellent: return "excellent";
    case EfficiencyBand::kGood: return "good";
    case EfficiencyBand::kBottleneck: break;
  }
  return "bottleneck";
}

std::string BandWord(const Number& efficiency_pct) {
  const char* const nothing = "not measured well enough";
  if (!efficiency_pct.low || !efficiency_pct.high) return nothing;
  const EfficiencyBand worst = BandOf(*efficiency_pct.low), best = BandOf(*efficiency_pct.high);
  if (worst == best) return BandName(best);
  if (worst != EfficiencyBand::kBottleneck) return std::string(BandName(worst)) + " or better";
  return best == EfficiencyBand::kGood ? std::string(BandName(best)) + " or worse" : nothing;
}

ParallelEfficiency AnalyseParallelEfficiency(const Combined& combined, const nlohmann::json& baseline,
                                             const BalancedLimits& balanced, const std::set<std::string>& outside_identity) {
  SeriesOfTrials series = FindSeries(combined, outside_identity);
  ParallelEfficiency analysis;
  analysis.settings = GatherSettings(combined, series);
  analysis.series = std::move(series.series);
  MeasureSpeeds(analysis.series, &analysis.settings);
  ChooseBaselines(combined, baseline, &analysis);
  for (Setting& setting : analysis.settings) {
    const std::optional<size_t>& of = analysis.series[setting.series].baseline;
    if (of) Score(analysis.settings[*of], &setting);
  }
  for (size_t i = 0; i < analysis.series.size(); ++i) {
    analysis.recommendations.push_back(Recommend(analysis, i, combined, balanced));
  }
  return analysis;
}

}  // namespace backplane
