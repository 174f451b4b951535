#include "embed/handles.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "embed/embedded_env.hpp"
#include "embed/embedded_policy.hpp"
#include "embed/last_error.hpp"
#include "rollout/failure.hpp"

namespace backplane {

struct alignas(64) Slot {
  std::atomic<uintptr_t> handle{0};  // 0: free
  std::atomic<uint32_t> busy{0};
  pid_t pid = 0;  // the process that opened it; a child after fork() has neither its threads nor its locks
  Embedded* object = nullptr;
};

namespace {

constexpr uintptr_t kSlots = 4096;  // a power of 2
constinit std::array<Slot, kSlots> slots;
constinit std::atomic<uintptr_t> handles_made{0};

bool Take(Slot& slot) {
  uint32_t nobody = 0;
  return slot.busy.compare_exchange_strong(nobody, 1, std::memory_order_acquire);
}

void GiveBack(Slot& slot) { slot.busy.store(0, std::memory_order_release); }

}  // namespace

bp_embed* NewHandle(std::unique_ptr<Embedded> object) {
  for (uintptr_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots[i];
    if (slot.handle.load(std::memory_order_relaxed) != 0 || !Take(slot)) continue;
    const uintptr_t handle = (handles_made.fetch_add(1) + 1) * kSlots + i;
    const bool free = slot.handle.load(std::memory_order_relaxed) == 0;
    if (free) {
      slot.pid = getpid();
      slot.object = object.release();
      slot.handle.store(handle, std::memory_order_release);
    }
    GiveBack(slot);
    if (free) return reinterpret_cast<bp_embed*>(handle);
  }
  throw TrialFailure(BP_E_OOM_HOST, "",
                     std::to_string(kSlots) + " envs are open, which is the maximum\nhint: close one with bp_embed_close");
}

HandleUse::HandleUse(const bp_embed* handle) noexcept {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  Slot& slot = slots[number % kSlots];
  const auto is_open = [&] { return number != 0 && slot.handle.load(std::memory_order_acquire) == number; };
  if (!is_open()) {
    SayError(BP_E_INVALID_ARG, "expected the handle of an open env, got one that is closed or was never opened");
  } else if (slot.pid != getpid()) {
    SayError(BP_E_INVALID_ARG,
             "expected an env of this process, got one that was opened before fork()\nhint: open a new one in the child");
  } else if (!Take(slot)) {
    SayError(BP_E_INVALID_ARG, "another call is using this handle, in a different thread or below a signal handler");
  } else if (slot_ = &slot; is_open()) {
    object_ = slot.object;
  } else {
    SayError(BP_E_INVALID_ARG, "expected the handle of an open env, got one that was just closed");
  }
}

HandleUse::~HandleUse() {
  if (slot_) GiveBack(*slot_);
}

EmbeddedEnv* HandleUse::env() const noexcept {
  auto* const env = dynamic_cast<EmbeddedEnv*>(object_);
  if (object_ != nullptr && env == nullptr) SayError(BP_E_INVALID_ARG, "expected the handle of an env, got one of a policy");
  return env;
}

EmbeddedPolicy* HandleUse::policy() const noexcept {
  auto* const policy = dynamic_cast<EmbeddedPolicy*>(object_);
  if (object_ != nullptr && policy == nullptr) SayError(BP_E_INVALID_ARG, "expected the handle of a policy, got one of an env");
  return policy;
}

std::unique_ptr<Embedded> HandleUse::Close() {
  slot_->handle.store(0, std::memory_order_release);
  slot_->object = nullptr;
  return std::unique_ptr<Embedded>(std::exchange(object_, nullptr));
}

}  // namespace backplane
