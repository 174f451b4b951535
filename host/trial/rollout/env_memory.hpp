// The memory of an env's channels: the host's, or memory on the device in the env's spec. The host keeps device addresses but
// never dereferences them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backplane/ext/memory.h"
#include "rollout/shared_memory.hpp"

namespace backplane {

class EnvInstance;
class LearnerInstance;
class LearnerMemory;

class EnvMemory {
 public:
  EnvMemory() = default;  // host memory
  // Memory of the env's device, or the host's, shared with the learner's processes if it asked for that. The env outlives this
  // and all its allocations.
  EnvMemory(EnvInstance& env, const LearnerInstance& learner);
  // The same memory, but the host's is shared with other processes if there is room. NULL: private.
  EnvMemory In(SharedMemory* shared) const;

  struct Release {
    EnvInstance* env = nullptr;  // NULL: host memory
    const bp_env_memory_1* memory = nullptr;
    uint64_t mapped = 0;                   // bytes of shared memory
    std::shared_ptr<LearnerMemory> owner;  // of the shared memory; NULL: rollout workers share it
    void operator()(std::byte* p) const;
  };
  using Bytes = std::unique_ptr<std::byte, Release>;

  bool on_device() const { return env_ != nullptr; }
  bp_device device() const { return device_; }
  uint64_t alignment() const { return on_device() ? 256 : 64; }
  // Aligned, and zeroed unless another process has it already. If `zeroed` is false, host memory stays unmapped until the first
  // write. Throws TrialFailure (BP_E_OOM_DEVICE, ...) or std::bad_alloc.
  Bytes Allocate(uint64_t bytes, bool zeroed = true) const;
  // Copies between the env's memory and the host's. Throws TrialFailure, like the functions below.
  void ToHost(void* host, const void* from, uint64_t bytes) const;
  void FromHost(void* to, const void* host, uint64_t bytes) const;
  // Copies within the env's memory.
  void Copy(void* to, const void* from, uint64_t bytes) const;
  // to [indices.size(), bytes_each] = items of `from`, which are `bytes_each` apart.
  void Gather(void* to, const void* from, uint64_t bytes_each, const std::vector<int64_t>& indices) const;

 private:
  template <class Function>
  void Call(const char* doing, Function&& function) const;

  EnvInstance* env_ = nullptr;  // NULL: host memory
  const bp_env_memory_1* memory_ = nullptr;
  bp_device device_{BP_DEVICE_CPU, 0};
  SharedMemory* shared_ = nullptr;
  std::shared_ptr<LearnerMemory> of_learner_;  // NULL: private
};

}  // namespace backplane
