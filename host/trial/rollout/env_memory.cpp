#include "rollout/env_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

EnvMemory::EnvMemory(EnvInstance& env, const LearnerInstance& learner) {
  if (!env.on_device()) {
    of_learner_ = learner.memory();
    return;
  }
  device_ = env.spec().device;
  env_ = &env;
  memory_ = env.Extension<bp_env_memory_1>(BP_ENV_MEMORY_1);
}

EnvMemory EnvMemory::In(SharedMemory* shared) const {
  EnvMemory memory = *this;
  if (!on_device()) memory.shared_ = shared;
  return memory;
}

void EnvMemory::Release::operator()(std::byte* p) const {
  if (owner != nullptr) return owner->Unmap(p, mapped);
  if (mapped > 0) return void(munmap(p, mapped));
  if (env == nullptr) return std::free(p);
  CallPluginQuietly(env->id(), [&] { memory->release(env->handle(), p); });
}

template <class Function>
void EnvMemory::Call(const char* doing, Function&& function) const {
  env_->Call(doing, std::forward<Function>(function));
}

EnvMemory::Bytes EnvMemory::Allocate(uint64_t bytes, bool zeroed) const {
  if (std::byte* const shared = shared_ ? shared_->Map(bytes) : nullptr)
    return {shared, Release{.mapped = bytes, .owner = nullptr}};
  if (std::byte* const shared = of_learner_ ? of_learner_->Map(bytes) : nullptr)
    return {shared, Release{.mapped = bytes, .owner = of_learner_}};
  if (!on_device()) return {AllocateAligned(bytes, zeroed).release(), Release{}};
  void* p = nullptr;
  Call("allocate", [&](bp_env* env) { return memory_->allocate(env, bytes ? bytes : 1, &p); });
  if (p == nullptr || reinterpret_cast<uintptr_t>(p) % alignment() != 0)
    throw TrialFailure(BP_E_INTERNAL, env_->id(),
                       fmt::format("allocate: expected memory aligned to {} bytes, got {}", alignment(), p));
  return {static_cast<std::byte*>(p), Release{env_, memory_}};
}

void EnvMemory::ToHost(void* host, const void* from, uint64_t bytes) const {
  if (!on_device()) return void(std::memcpy(host, from, bytes));
  Call("to_host", [&](bp_env* env) { return memory_->to_host(env, host, from, bytes); });
}

void EnvMemory::FromHost(void* to, const void* host, uint64_t bytes) const {
  if (!on_device()) return void(std::memcpy(to, host, bytes));
  Call("to_device", [&](bp_env* env) { return memory_->to_device(env, to, host, bytes); });
}

void EnvMemory::Copy(void* to, const void* from, uint64_t bytes) const {
  if (!on_device()) return void(std::memcpy(to, from, bytes));
  Call("copy", [&](bp_env* env) { return memory_->copy(env, to, from, bytes); });
}

void EnvMemory::Gather(void* to, const void* from, uint64_t bytes_each, const std::vector<int64_t>& indices) const {
  if (on_device())
    return Call("gather",
                [&](bp_env* env) { return memory_->gather(env, to, from, bytes_each, indices.size(), indices.data()); });
  for (size_t i = 0; i < indices.size(); ++i)
    std::memcpy(static_cast<std::byte*>(to) + i * bytes_each,
                static_cast<const std::byte*>(from) + static_cast<uint64_t>(indices[i]) * bytes_each, bytes_each);
}

}  // namespace backplane
