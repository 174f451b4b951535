// The memory of the device on which LibTorch computes a learner's updates: limit, use, and minibatches that do not fit.
#pragma once

#include <optional>

#include "backplane/learner.hpp"
#include "torch/memory.hpp"

namespace backplane::on_policy {

// Without a part, updates use no such memory and everything is 0.
class TorchMemory {
 public:
  TorchMemory() = default;
  TorchMemory(const torch_common::Memory& memory, bp_device device) : memory_(&memory), device_(device) { memory.meter_cpu(); }

  void Limit(const bp_host* host, uint64_t bytes) {
    if (memory_ == nullptr || bytes == limit_) return;
    limit_ = bytes;
    if (!memory_->limit(device_, bytes) && bytes > 0)
      host->log(host, BP_LOG_WARN,
                "resources.device_memory does not limit the GPU here, because the program that loaded LibTorch set no limit");
  }
  // LibTorch has no figures of a GPU before its first tensor.
  void NoteTensors() { has_tensors_ = true; }
  bp_device_use Use() const {
    return memory_ && has_tensors_ ? memory_->use(device_) : bp_device_use{sizeof(bp_device_use), 0, 0, 0, 0};
  }
  void ResetPeak() {
    if (memory_ && has_tensors_) memory_->reset_peak(device_);
  }

 private:
  const torch_common::Memory* memory_ = nullptr;
  bp_device device_{BP_DEVICE_CPU, 0};
  uint64_t limit_ = 0;
  bool has_tensors_ = false;
};

}  // namespace backplane::on_policy
