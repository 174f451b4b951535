#include "trial/recorded_names.hpp"

#include "record/metric_series.hpp"
#include "rollout/check_spec.hpp"

namespace backplane {

RecordedMeasures RecordedNames(TrialParts* parts) {
  std::vector<std::string> of_episodes = {"return", "ep/length"};
  for (const bp_channel* channel : parts->env().channels())
    if (IsEpisodeInfo(*channel)) of_episodes.push_back(channel->name);
  RecordedMeasures names;
  for (const std::string& name : of_episodes) names[name] = 0;
  for (const MetricsHub::Metric& metric : parts->metrics().Registered()) names[metric.name] = metric.direction;
  if (parts->evaluation_env() == nullptr) return names;
  of_episodes.push_back("ep/loss");  // of held-out items, where a learner of a data set tells it
  for (const char* prefix : {"eval/", "floor_zero/", "floor_uniform/"})
    for (const std::string& name : of_episodes) names.try_emplace(NameUnder(prefix, name), 0);
  return names;
}

}  // namespace backplane
