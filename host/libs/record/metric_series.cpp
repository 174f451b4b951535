#include "record/metric_series.hpp"

#include <cmath>

namespace backplane {
namespace {

using Of = MetricValue::Of;

class Series {
 public:
  std::vector<MetricValue> Take() { return std::move(values_); }

  void Add(const std::string& name, const std::optional<double>& value, Of of) {
    if (value) values_.push_back({name, std::isfinite(*value) ? *value : std::nan(""), of});
  }
  void AddCount(const std::string& name, const std::optional<uint64_t>& count, Of of) {
    if (count) Add(name, static_cast<double>(*count), of);
  }
  void AddAll(const std::map<std::string, double>& numbers, Of of) {
    for (const auto& [name, value] : numbers) Add(name, value, of);
  }
  // Before the first episode has ended there is no mean.
  void AddMean(const std::string& name, const Spread& spread) {
    if (spread.n.value_or(0) > 0) Add(name, spread.mean, Of::kExperiment);
  }
  void AddEpisodes(const std::string& prefix, const std::optional<Spread>& episode_return,
                   const std::map<std::string, Spread>& metrics) {
    if (episode_return) AddMean(prefix + "return", *episode_return);
    for (const auto& [name, spread] : metrics) AddMean(NameUnder(prefix, name), spread);
  }

 private:
  std::vector<MetricValue> values_;
};

}  // namespace

std::vector<MetricValue> MetricSeries(const Iteration& line) {
  Series series;
  series.AddCount("env_steps", line.step, Of::kAxis);
  series.AddCount("episodes", line.episodes, Of::kExperiment);
  series.AddEpisodes("", line.episode_return, line.ep.value_or(std::map<std::string, Spread>()));
  if (line.eval) series.AddEpisodes("eval/", line.eval->episode_return, line.eval->metrics);
  series.AddAll(line.metrics, Of::kExperiment);
  series.Add("iteration_s", line.time.iteration_s, Of::kMachine);
  series.Add("sampling_sps", line.time.sampling_sps, Of::kMachine);
  series.Add("sps", line.time.sps, Of::kMachine);
  series.Add("t", line.time.t, Of::kAxis);
  series.AddAll(line.time.machine, Of::kMachine);
  return series.Take();
}

bool IsOfEpisodes(std::string_view name) { return name == "return" || name.starts_with("ep/") || name.starts_with("eval/"); }

std::string NameUnder(const std::string& prefix, const std::string& name) {
  constexpr std::string_view kEpisode = "ep/";
  return prefix.empty() ? name : prefix + (name.starts_with(kEpisode) ? name.substr(kEpisode.size()) : name);
}

}  // namespace backplane
