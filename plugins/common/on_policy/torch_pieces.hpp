// A minibatch's gradient as the sum over parts of it, if the whole minibatch does not fit into the device's memory.
#pragma once

#include <algorithm>
#include <string>

#include "backplane/plugin.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parts.hpp"
#include "torch/device.hpp"
#include "torch/errors.hpp"

namespace backplane::on_policy {

class Pieces {
 public:
  Pieces(const bp_host* host, bp_device device) : host_(host), device_(device) {}

  // False: BP_E_OOM_DEVICE is the caller's (on_failure.device_oom).
  void AllowSmaller(bool allowed) { allowed_ = allowed; }
  int64_t smaller() const { return smaller_; }  // times that a minibatch did not fit

  // begin() clears the gradient. piece(begin, end, weight) adds the gradient of weight * its mean loss; the weights of all
  // pieces sum to 1. The returned statistics are their weighted sums. Out of memory, everything is repeated in smaller pieces.
  template <class Begin, class Piece>
  StepStats Sum(int64_t n, Begin&& begin, Piece&& piece) {
    for (;;) {
      try {
        return torch_common::WithTorchErrors([&] {
          begin();
          StepStats sum{};
          const int64_t parts = most_ > 0 ? PartsOfAtMost(most_, n) : 1;
          for (int64_t i = 0; i < parts; ++i) {
            const Part part = PartOf(n, parts, i);
            const double weight = static_cast<double>(part.end - part.begin) / static_cast<double>(n);
            sum.Add(weight, piece(part.begin, part.end, weight));
          }
          return sum;
        });
      } catch (const bp::Error& e) {
        if (e.code() != BP_E_OOM_DEVICE || !allowed_) throw;
        Shrink(most_ > 0 ? std::min(most_, n) : n, e.what());
      }
    }
  }

 private:
  void Shrink(int64_t largest, const std::string& why) {
    if (largest == 1) throw bp::Error(BP_E_OOM_DEVICE, "not even one sample at a time fits into the device's memory: " + why);
    most_ = (largest + 1) / 2, ++smaller_;
    torch_common::EmptyCache(device_);
    host_->log(
        host_, BP_LOG_WARN,
        (std::to_string(largest) + " samples did not fit into the device's memory, so gradients are summed over parts of " +
         std::to_string(most_) + "; the updates are the same, but slower; a smaller minibatch_size changes them")
            .c_str());
  }

  const bp_host* host_;
  bp_device device_;
  bool allowed_ = true;
  int64_t most_ = 0, smaller_ = 0;  // most_: samples at a time; 0: all
};

}  // namespace backplane::on_policy
