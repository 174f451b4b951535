// The memory that an env works on: the host's own, or that of the device which the env's spec names. The host keeps addresses
// on a device and never follows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backplane/ext/memory.h"

namespace backplane {

class EnvInstance;

class EnvMemory {
 public:
  EnvMemory() = default;  // the host's own
  // That of the env's device. The env outlives this and all that is allocated here.
  explicit EnvMemory(EnvInstance& env);

  struct Release {
    EnvInstance* env = nullptr;  // NULL: the host's own
    const bp_env_memory_1* memory = nullptr;
    void operator()(std::byte* p) const;
  };
  using Bytes = std::unique_ptr<std::byte, Release>;

  bool on_device() const { return env_ != nullptr; }
  bp_device device() const { return device_; }
  uint64_t alignment() const { return on_device() ? 256 : 64; }
  // Aligned and zeroed; the host's own is left unmapped until somebody writes there if `zeroed` is false. Throws TrialFailure
  // (BP_E_OOM_DEVICE, ...) or std::bad_alloc.
  Bytes Allocate(uint64_t bytes, bool zeroed = true) const;
  // Between the env's memory and the host's own. Throw TrialFailure, like those below.
  void ToHost(void* host, const void* from, uint64_t bytes) const;
  void FromHost(void* to, const void* host, uint64_t bytes) const;
  // Within the env's memory.
  void Copy(void* to, const void* from, uint64_t bytes) const;
  // to [indices.size(), bytes_each] = items of `from`, which lie `bytes_each` apart.
  void Gather(void* to, const void* from, uint64_t bytes_each, const std::vector<int64_t>& indices) const;

 private:
  template <class Function>
  void Call(const char* doing, Function&& function) const;

  EnvInstance* env_ = nullptr;  // NULL: the host's own
  const bp_env_memory_1* memory_ = nullptr;
  bp_device device_{BP_DEVICE_CPU, 0};
};

}  // namespace backplane
