#include "results/setting_speed.hpp"

#include <algorithm>
#include <map>

namespace backplane {

void MeasureSpeeds(const std::vector<ScoredSeries>& series, std::vector<Setting>* settings) {
  std::map<size_t, std::vector<std::vector<double>>> speeds;  // of each group of machines
  for (const Setting& setting : *settings) speeds[series[setting.series].group].push_back(setting.speeds);
  for (Setting& setting : *settings) {
    if (setting.speeds.empty()) continue;
    setting.spread = statistics::PoolLogs(speeds[series[setting.series].group]);
    const std::vector<double>& own = setting.speeds;
    if (own.size() == 1 && !setting.spread.is_enough()) continue;
    Number sps = Reading(statistics::GeometricMean(own));
    sps.n = own.size();
    sps.of = "seeds";
    if (own.size() > 1) sps.sd = Mean(own, "seeds").sd;
    if (const auto interval = statistics::RateInterval(sps.value, own.size(), setting.spread)) {
      sps.low = interval->low;
      sps.high = interval->high;
    }
    setting.sps = sps;
  }
}

Number SpeedRatio(const Setting& setting, const Setting& base, double factor) {
  Number ratio = Reading(setting.sps->value / base.sps->value * factor);
  if (&setting == &base) return ratio;
  ratio.n = std::min(setting.speeds.size(), base.speeds.size());
  ratio.of = "seeds";
  const auto interval = statistics::RatioInterval(ratio.value, setting.speeds.size(), base.speeds.size(), setting.spread);
  if (!interval) return ratio;
  ratio.low = interval->low;
  ratio.high = interval->high;
  return ratio;
}

bool IsShownFaster(const Setting& setting, const Setting& than) {
  const Number ratio = SpeedRatio(setting, than);
  return ratio.low && *ratio.low > 1;
}

}  // namespace backplane
