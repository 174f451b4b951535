// The position of a trial in a data set, and the micro-batch sizes that its device has supported.
#pragma once

#include <cstdint>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// A group that did not fit into memory, and the smaller micro-batch chosen for it.
struct Shrink {
  uint64_t iteration = 0, micro_batch_before = 0, micro_batch_after = 0;
  uint64_t live_bytes = 0, peak_bytes = 0;  // when it was dropped, and peak; 0 if the learner does not report them

  static void Fields(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("micro_batch_before", self.micro_batch_before);
    visit("micro_batch_after", self.micro_batch_after);
    visit("live_bytes", self.live_bytes);
    visit("peak_bytes", self.peak_bytes);
  }
};

struct DataPosition {
  uint64_t epoch = 0, item = 0;  // of the next group
  uint64_t micro_batch = 0, micro_batch_max = 0;
  std::vector<Shrink> shrinks;

  static void Fields(auto& self, auto&& visit) {
    visit("epoch", self.epoch);
    visit("item", self.item);
    visit("micro_batch", self.micro_batch);
    visit("micro_batch_max", self.micro_batch_max);
    visit("shrinks", self.shrinks);
  }
};

}  // namespace backplane
