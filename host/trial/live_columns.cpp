#include "trial/live_columns.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/suggest.hpp"
#include "machine/resource_measures.hpp"
#include "record/metric_series.hpp"

namespace backplane {

std::vector<std::string> UnknownLive(const std::vector<std::string>& live, std::vector<std::string> names, bool evaluated,
                                     const std::string& place) {
  for (size_t i = 0, n = names.size(); evaluated && i < n; ++i) {
    if (names[i] == "return" || names[i].starts_with("ep/")) names.push_back(NameUnder("eval/", names[i]));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> sentences;
  for (const std::string& name : live) {
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    const bool no_evaluation = name.starts_with("eval/") && !evaluated;
    sentences.push_back((place.empty() ? "" : place + ": ") + "output.live: no metric '" + name + "'" +
                        (no_evaluation ? ", because evaluation.episodes is 0" : DidYouMean(Nearest(name, Candidates(names)))));
  }
  return sentences;
}

LiveColumns::LiveColumns(const LoopParts& parts, WarningList& warnings) : parts_(parts), warnings_(warnings) {
  parts_.status.NameLive(parts_.spec.experiment.live);
}

void LiveColumns::Show(const Iteration& line) {
  const bool of_gpu = parts_.spec.experiment.resources.gpus > 0;
  if (parts_.spec.experiment.live.empty() && !of_gpu) return;
  std::vector<MetricValue> values = MetricSeries(line);
  if (of_gpu) AddOfGpu(&values);
  for (const MetricValue& value : values) parts_.status.SetLive(value.name, value.value);
}

void LiveColumns::AddOfGpu(std::vector<MetricValue>* values) {
  for (const std::string_view measure : resource_measure::kLiveOfGpu) {
    const auto found =
        std::find_if(values->begin(), values->end(), [&](const MetricValue& one) { return one.name == measure; });
    if (found == values->end()) continue;  // not sampled yet; the column would be empty
    parts_.status.AddLive(measure);
    // Shows the peak of memory so far, as the finding about its target does.
    if (measure == resource_measure::kGpuMemoryPct) found->value = gpu_memory_pct_ = std::max(gpu_memory_pct_, found->value);
  }
}

void LiveColumns::WarnOnceOfUnknown(const Iteration& line, const CollectData& data) {
  if (std::exchange(warned_, true)) return;
  const bool evaluated = parts_.evaluation_env != nullptr;
  std::vector<std::string> names{"return", "ep/length"};
  for (const MetricValue& value : MetricSeries(line)) names.push_back(value.name);
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered()) names.push_back(metric.name);
  for (const bp_channel* channel : parts_.env.channels())
    if (IsEpisodeInfo(*channel)) names.push_back(channel->name);
  if (evaluated && data.HasHeldOutLoss()) names.push_back("eval/loss");
  const auto place = parts_.spec.origin.find("output.live");
  for (const std::string& warning : UnknownLive(parts_.spec.experiment.live, std::move(names), evaluated,
                                                place == parts_.spec.origin.end() ? "" : place->second))
    warnings_.Add(warning);
}

}  // namespace backplane
