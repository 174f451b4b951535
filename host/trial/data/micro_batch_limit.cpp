#include "data/micro_batch_limit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/group.hpp"

namespace backplane {
namespace {

const bp_learner_device_use_1* DeviceUseOf(const LearnerInstance& learner) {
  return learner.Extension<bp_learner_device_use_1>(BP_LEARNER_DEVICE_USE_1);
}

// True if n items fit into one micro-batch; with the peak of memory, 0 if unknown.
struct Try {
  bool fits;
  double peak_bytes;
};

Try TryItems(ItemGroup& group, LearnerInstance& learner, uint64_t n) {
  group.ReadLongest(n);
  bp_delivery delivery = group.Cut(n).front();
  delivery.flags |= BP_DELIVERY_PROBE;
  ResetDevicePeak(learner);
  try {
    learner.Consume(delivery);
  } catch (const TrialFailure& failure) {
    if (failure.status() != BP_E_OOM_DEVICE || n == 1) throw;
    return {false, 0};
  }
  return {true, static_cast<double>(DeviceUse(learner).peak_bytes)};
}

}  // namespace

bool ReportsDeviceUse(const LearnerInstance& learner) { return DeviceUseOf(learner) != nullptr; }

void ResetDevicePeak(LearnerInstance& learner) {
  const auto* extension = DeviceUseOf(learner);
  if (extension == nullptr) return;
  learner.Call("reset of the peak", [&](bp_learner* handle) { return extension->reset_peak(handle); });
}

bp_device_use DeviceUse(LearnerInstance& learner) {
  bp_device_use use{};
  use.struct_size = sizeof use;
  const auto* extension = DeviceUseOf(learner);
  if (extension == nullptr) return use;
  learner.Call("use of the device", [&](bp_learner* handle) { return extension->read(handle, &use); });
  return use;
}

uint64_t LargestMicroBatch(EnvInstance& env, LearnerInstance& learner, uint64_t most, uint64_t device_bytes,
                           const std::function<bool()>& stop_requested) {
  ItemGroup group(env);
  const auto fits = [&](uint64_t n) {
    if (stop_requested()) throw TrialFailure(BP_E_CANCELLED, "", "stopped during the search for the largest micro-batch");
    return TryItems(group, learner, n);
  };
  uint64_t good = 1, bad = most + 1;
  const Try one = fits(1);
  if (most == 1) return 1;
  const Try two = fits(2);
  if (!two.fits) return 1;
  good = 2;
  uint64_t guess = bad;
  if (const double each = two.peak_bytes - one.peak_bytes; device_bytes > 0 && each > 0)
    guess = static_cast<uint64_t>(std::max(0.0, (static_cast<double>(device_bytes) - one.peak_bytes) / each) + 1);
  // Tries the guess and its neighbours first, then bisects.
  for (int tries = 0; bad - good > 1; ++tries) {
    const uint64_t n = tries < 3 ? std::clamp(guess, good + 1, bad - 1) : good + (bad - good) / 2;
    if (fits(n).fits) {
      good = n;
      guess = n + 1;
    } else {
      bad = n;
      guess = n - 1;
    }
  }
  return good;
}

uint64_t HalvedMicroBatch(const LearnerInstance& learner, uint64_t micro_batch, uint64_t items, const std::string& why) {
  const uint64_t largest = std::min(micro_batch, items);
  if (largest == 1)
    throw TrialFailure(BP_E_OOM_DEVICE, learner.id(), "even one item at a time does not fit the device: " + why);
  return largest / 2;
}

}  // namespace backplane
