#include "study/gain.hpp"

namespace backplane {

Gain LastGain(const std::vector<Speeds>& measurements, int direction) {
  std::vector<std::vector<double>> groups;
  for (const Speeds& one : measurements) {
    groups.push_back(one.before);
    groups.push_back(one.after);
  }
  const std::vector<double>& better = direction < 0 ? measurements.back().before : measurements.back().after;
  const std::vector<double>& base = direction < 0 ? measurements.back().after : measurements.back().before;
  Gain gain{statistics::GeometricMean(better) / statistics::GeometricMean(base), std::nullopt};
  gain.interval = statistics::RatioInterval(gain.ratio, better.size(), base.size(), statistics::PoolLogs(groups));
  return gain;
}

Learned CompareLearning(const std::vector<double>& original, const std::vector<double>& tuned, int direction) {
  Learned learned{statistics::Judge(tuned, original), statistics::WelchDifference(tuned, original), false};
  learned.is_worse = learned.verdict == (direction < 0 ? statistics::Verdict::kMore : statistics::Verdict::kLess);
  return learned;
}

}  // namespace backplane
