// Mixed precision, and the device of updates.
#pragma once

#include <algorithm>

#include "backplane/ext/gpus.h"
#include "backplane/options.hpp"
#include "nn/bf16.hpp"
#include "nn/matrix.hpp"
#include "on_policy/options.hpp"

namespace backplane::on_policy {

// Throws bp::ConfigError if it is requested but the processor does not support it.
inline nn::Precision FusedPrecision(Amp amp, bool has_bf16 = nn::HasBf16()) {
  if (amp == Amp::kOff) return nn::Precision::kFull;
  if (amp == Amp::kFp16)
    throw bp::ConfigError(
        "use_amp: fp16: expected a GPU (resources.gpus), got none; use_amp: bf16 suits CPUs, and update_path: torch emulates "
        "float16");
  if (!has_bf16)
    throw bp::ConfigError(
        "use_amp: expected a CPU with avx512_bf16, got one without, on which it would only be slower; update_path: torch uses "
        "it anyway");
  return nn::Precision::kBf16;
}

struct UpdateDevice {
  bool torch, gpu;
};

// `auto` is a granted GPU, unless update_path: fused keeps updates on the CPU.
inline UpdateDevice DeviceOfUpdates(const bp_host* host, Device device, UpdatePath path) {
  const bool granted = bp::GrantedGpus(host) > 0 && path != UpdatePath::kFused;
  const bool gpu = device == Device::kCuda || (device == Device::kAuto && granted);
  if (gpu) bp::UseGpu(host);
  return {gpu || path == UpdatePath::kTorch, gpu};
}

// All granted GPUs, each with a shard of a minibatch; else the CPU, with the option's number of shards.
inline TorchOptions TorchOptionsFor(const bp_host* host, bool gpu, int64_t shards, Amp amp) {
  if (!gpu) return {.shards = shards, .amp = amp};
  TorchOptions options{.devices = {}, .amp = amp};
  for (uint32_t id = 0; id < std::max(bp::GrantedGpus(host), 1u); ++id)
    options.devices.push_back({BP_DEVICE_CUDA, static_cast<int32_t>(id)});
  options.shards = static_cast<int64_t>(options.devices.size());
  return options;
}

// The error if LibTorch has no GPU for an update that should run there.
inline bp::Error NoGpu(Device device) {
  if (device == Device::kCuda) return bp::ConfigError("device: cuda: expected a GPU and a LibTorch built for it, got none");
  return bp::ConfigError(
      "device: auto: expected a LibTorch built for the GPU that resources.gpus grants, got one without CUDA; set "
      "resources.gpus: 0 to train on the CPU");
}

}  // namespace backplane::on_policy
