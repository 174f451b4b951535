// The columns of `watch` and of the running batch that the experiment names (output.live), and those of a GPU.
#pragma once

#include <string>
#include <vector>

#include "record/metric_series.hpp"
#include "trial/collect_data.hpp"

namespace backplane {

// A sentence for each of `live` that is not in `names`, with its `place` in the file ("" if not known). With `evaluated` the
// episodes' measures (return, ep/NAME) count under eval/ too.
std::vector<std::string> UnknownLive(const std::vector<std::string>& live, std::vector<std::string> names, bool evaluated,
                                     const std::string& place);

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
