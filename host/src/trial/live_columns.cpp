#include "trial/live_columns.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "machine/resource_measures.hpp"
#include "trial/live_names.hpp"

namespace backplane {

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
    if (found == values->end()) continue;  // nothing has sampled it yet: there would be an empty column
    parts_.status.AddLive(measure);
    // Of memory the most so far, as the finding of its target takes it.
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
