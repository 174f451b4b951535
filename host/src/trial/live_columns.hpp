// The columns of `watch` and of the running batch that the experiment names (output.live), and those of a GPU.
#pragma once

#include <vector>

#include "record/metric_series.hpp"
#include "trial/collect_data.hpp"

namespace backplane {

class LiveColumns {
 public:
  LiveColumns(const LoopParts& parts, WarningList& warnings);

  // `line` as it stands in metrics.jsonl. What it has no value of keeps the one before, as an evaluation comes now and then.
  void Show(const Iteration& line);
  // After the first iteration everything is registered that will be: a mistyped name would stay empty without a word.
  void WarnOnceOfUnknown(const Iteration& line, const CollectData& data);

 private:
  void AddOfGpu(std::vector<MetricValue>* values);

  const LoopParts& parts_;
  WarningList& warnings_;
  double gpu_memory_pct_ = 0;  // the most so far
  bool warned_ = false;
};

}  // namespace backplane
