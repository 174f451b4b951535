// The columns of `watch` and of the running batch: those in output.live, and a GPU's.
#pragma once

#include <string>
#include <vector>

#include "record/metric_series.hpp"
#include "trial/collect_data.hpp"

namespace backplane {

// A sentence per name in `live` that is missing in `names`, with its `place` in the file ("" if unknown). With `evaluated`, the
// episodes' measures (return, ep/NAME) count under eval/ too.
std::vector<std::string> UnknownLive(const std::vector<std::string>& live, std::vector<std::string> names, bool evaluated,
                                     const std::string& place);

class LiveColumns {
 public:
  LiveColumns(const LoopParts& parts, WarningList& warnings);

  // `line`: as in metrics.jsonl. Columns without a value keep the previous one, because evaluations are rare.
  void Show(const Iteration& line);
  // After the first iteration all names are registered. A mistyped one would otherwise stay empty without a warning.
  void WarnOnceOfUnknown(const Iteration& line, const CollectData& data);

 private:
  void AddOfGpu(std::vector<MetricValue>* values);

  const LoopParts& parts_;
  WarningList& warnings_;
  double gpu_memory_pct_ = 0;  // the peak so far
  bool warned_ = false;
};

}  // namespace backplane
