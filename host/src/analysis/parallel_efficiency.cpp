#include "analysis/parallel_efficiency.hpp"

#include <algorithm>

#include "analysis/baseline.hpp"
#include "analysis/recommendation.hpp"
#include "analysis/series.hpp"
#include "analysis/settings.hpp"

namespace backplane {
namespace {

// Divides once and with more digits than the result has, so that a setting of exactly 80 %, and the baseline's 100 %, are not
// rounded below their bands.
double Percent(long double sps, long double of, long double baseline_sps, long double baseline_of) {
  return static_cast<double>(100 * sps * baseline_of / (baseline_sps * of));
}

double CoresUsed(const Setting& setting) { return static_cast<double>(std::min(setting.num_env_runners, setting.cores)); }

void Score(const Setting& baseline, Setting* setting) {
  if (!setting->sps) return;
  const double sps = setting->sps->value, baseline_sps = baseline.sps->value;
  setting->speedup = sps / baseline_sps;
  setting->efficiency_pct =
      Percent(sps, static_cast<double>(setting->parallelism()), baseline_sps, static_cast<double>(baseline.parallelism()));
  setting->band = BandOf(*setting->efficiency_pct);
  if (setting->cores > 0 && baseline.cores > 0) {
    setting->core_efficiency_pct = Percent(sps, CoresUsed(*setting), baseline_sps, CoresUsed(baseline));
  }
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

ParallelEfficiency AnalyseParallelEfficiency(const Combined& combined, const nlohmann::json& baseline) {
  SeriesOfTrials series = FindSeries(combined);
  ParallelEfficiency analysis;
  analysis.settings = GatherSettings(combined, series);
  analysis.series = std::move(series.series);
  ChooseBaselines(combined, baseline, &analysis);
  for (Setting& setting : analysis.settings) {
    const std::optional<size_t>& of = analysis.series[setting.series].baseline;
    if (of) Score(analysis.settings[*of], &setting);
  }
  for (size_t i = 0; i < analysis.series.size(); ++i) {
    analysis.recommendations.push_back(Recommend(analysis, i, combined));
  }
  return analysis;
}

}  // namespace backplane
