// Authoring of "bp.learner.device_use/1" (ext/device_use.h): a learner with `bp_device_use DeviceUse() const` and
// `void ResetPeak()` supports it. Part of learner.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include "backplane/ext/device_use.h"
#include "backplane/plugin.hpp"

namespace bp::detail {
BP_NAMED(DeviceUse)
BP_NAMED(ResetPeak)

template <class P>
concept TellsDeviceUse = requires(P& p, const P& c) {
  bp_device_use{c.DeviceUse()}, p.ResetPeak();
};

template <class P>
constexpr void CheckDeviceUse() {
  static_assert(TellsDeviceUse<P> || !(Names_DeviceUse<P> || Names_ResetPeak<P>),
                "use of the device needs both functions: bp_device_use DeviceUse() const, void ResetPeak()");
}

// NULL: a different extension, or P does not support it.
template <class P>
const void* DeviceUseExtension(const char* id) {
  if constexpr (TellsDeviceUse<P>) {
    static constexpr bp_learner_device_use_1 use = {sizeof(bp_learner_device_use_1), 0,
                                                    [](bp_learner* learner, bp_device_use* out) noexcept {
                                                      auto* self = reinterpret_cast<P*>(learner);
                                                      return Guard(self->host(), [&] {
                                                        bp_device_use now = self->DeviceUse();
                                                        now.struct_size = std::min<uint32_t>(out->struct_size, sizeof now);
                                                        std::memcpy(out, &now, now.struct_size);
                                                      });
                                                    },
                                                    [](bp_learner* learner) noexcept {
                                                      auto* self = reinterpret_cast<P*>(learner);
                                                      return Guard(self->host(), [&] { self->ResetPeak(); });
                                                    }};
    if (std::strcmp(id, BP_LEARNER_DEVICE_USE_1) == 0) return &use;
  }
  return nullptr;
}

}  // namespace bp::detail
