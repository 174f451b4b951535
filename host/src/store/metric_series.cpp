#include "store/metric_series.hpp"

#include <cmath>

#include "base/json_fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using Of = MetricValue::Of;

class Series {
 public:
  std::vector<MetricValue> Take() { return std::move(values_); }

  void Add(const std::string& name, const json& value, Of of) {
    if (value.is_number() || value.is_null()) {
      values_.push_back({name, value.is_null() ? std::nan("") : value.get<double>(), of});
    }
  }
  void AddAll(const json& object, Of of) {
    for (const auto& [name, value] : object.items()) {
      Add(name, value, of);
    }
  }
  void AddEpisodes(const std::string& prefix, const json& object, const char* metrics) {
    AddMean(prefix + "return", At(object, "return"));
    for (const auto& [name, value] : At(object, metrics).items()) {
      AddMean(NameUnder(prefix, name), value);
    }
  }

 private:
  // Before the first episode has ended there is no mean.
  void AddMean(const std::string& name, const json& value) {
    if (NumberOf(At(value, "n")).value_or(0) > 0) {
      Add(name, At(value, "mean"), Of::kExperiment);
    }
  }

  std::vector<MetricValue> values_;
};

}  // namespace

std::vector<MetricValue> MetricSeries(const json& line) {
  Series series;
  if (line.contains("step")) {
    series.Add("env_steps", line["step"], Of::kAxis);
  }
  if (line.contains("episodes")) {
    series.Add("episodes", line["episodes"], Of::kExperiment);
  }
  series.AddEpisodes("", line, "ep");
  series.AddEpisodes("eval/", At(line, "eval"), "metrics");
  series.AddAll(At(line, "metrics"), Of::kExperiment);
  const json& time = At(line, "time");
  for (const auto& [name, value] : time.items()) {
    series.Add(name, value, name == "t" ? Of::kAxis : Of::kMachine);
  }
  series.AddAll(At(time, "machine"), Of::kMachine);
  return series.Take();
}

std::string NameUnder(const std::string& prefix, const std::string& name) {
  constexpr std::string_view kEpisode = "ep/";
  return prefix.empty() ? name : prefix + (name.starts_with(kEpisode) ? name.substr(kEpisode.size()) : name);
}

}  // namespace backplane
