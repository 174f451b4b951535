// C++ authoring of learners on a data set (ext/source.h): each group of items is one update, delivered in micro-batches.
// Derives from bp::Learner like OnPolicy; see learner.hpp.
#pragma once

#include <algorithm>
#include <limits>

#include "backplane/ext/held_out.h"
#include "backplane/learner.hpp"

namespace bp {

// The items of the next update; see bp_request.
struct DataRequest {
  uint64_t micro_batch = 0;  // items at a time; 0: as many as fit into the device's memory
  uint64_t group = 0;        // items per update
  bool sort = true, drop_last = false;
};

namespace detail {
BP_NAMED(HeldOutLoss)

template <class P>
concept TellsHeldOutLoss = requires(P& p, const Delivery& d) {
  double{p.HeldOutLoss(d)};
};
}  // namespace detail

// Optional members of the class, for the extensions of the same names:
//   double HeldOutLoss(const Delivery& micro_batch);                  // ext/held_out.h: summed over the items
//   bp_device_use DeviceUse() const; void ResetPeak();                // ext/device_use.h
class DataLearner : public Learner {
 public:
  using Learner::Learner;

  // Called before OnLimits, which may depend on the group for counts of updates.
  virtual DataRequest NextGroup() = 0;
  // One micro-batch of the group; the last has BP_DELIVERY_LAST_IN_GROUP. The group's tensors stay valid until that call
  // returns. Throws an Error (BP_E_OOM_DEVICE) if it does not fit, after restoring the state before the group.
  virtual void OnMicroBatch(const Delivery& delivery) = 0;
  // Called before each group with the host's present limits. device_bytes is unknown before the first call.
  virtual void OnLimits(const bp_limits& /*limits*/) {}

  void Plan(const bp_limits& limits, bp_request* out_request) final {
    if (!BP_HAS(&limits, iterations_done)) throw Unsupported("needs a host that reports the number of finished iterations");
    if (limits.items == 0)
      throw Unsupported("learns from a data set, but the env is not one (it does not offer \"bp.env.source/1\")");
    limits_ = limits;
    const DataRequest request = NextGroup();
    drop_last_ = request.drop_last;
    OnLimits(limits);
    out_request->kind = BP_REQ_DATA;
    out_request->u.data.micro_batch = request.micro_batch;
    out_request->u.data.group_rows = request.group;
    out_request->u.data.flags = (request.sort ? BP_DATA_SORT : 0) | (request.drop_last ? BP_DATA_DROP_LAST : 0);
  }
  void Consume(const Delivery& delivery) final {
    if (delivery.raw().kind != BP_REQ_DATA)
      throw Error(BP_E_INVALID_ARG, "expected a delivery of data, got kind " + std::to_string(delivery.raw().kind));
    OnMicroBatch(delivery);
  }

  template <class P>
  static constexpr void CheckHooks() {
    static_assert(
        requires { static_cast<void (P::*)(const bp_limits&)>(&P::OnLimits); },
        "OnLimits of a learner should be: void OnLimits(const bp_limits&) override, public");
    static_assert(!detail::Names_HeldOutLoss<P> || detail::TellsHeldOutLoss<P>,
                  "HeldOutLoss of a learner should be: double HeldOutLoss(const bp::Delivery&), public");
    detail::CheckDeviceUse<P>();
  }

  // Extensions of the derived class in addition to the state. Called by LearnerPlugin.
  template <class P>
  static const void* Extension(const char* id) {
    if constexpr (detail::TellsHeldOutLoss<P>) {
      static constexpr bp_learner_held_out_1 held_out = {
          sizeof(bp_learner_held_out_1), 0, [](bp_learner* learner, const bp_delivery* delivery, double* out) noexcept {
            auto* self = reinterpret_cast<P*>(learner);
            return Guard(self->host(), [&] { *out = self->HeldOutLoss(Delivery(delivery)); });
          }};
      if (std::strcmp(id, BP_LEARNER_HELD_OUT_1) == 0) return &held_out;
    }
    return detail::DeviceUseExtension<P>(id);
  }

 protected:
  // Share of the budget used when the group was planned, 0 to 1.
  double progress() const { return limits_.progress; }
  // Updates of this trial before the planned group. A learner's own count would continue from one stage to the next.
  uint64_t UpdatesDone() const { return limits_.iterations_done; }
  // Updates of the whole trial with groups of this many items, if its budget counts updates or epochs; 0: unknown. Valid
  // from OnLimits on. The last NextGroup decides whether short groups count.
  uint64_t UpdatesInAll(uint64_t group) const {
    constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
    uint64_t updates = limits_.iterations;
    if (limits_.epochs != kNone)
      updates = std::min(updates, limits_.epochs * ((limits_.items + (drop_last_ ? 0 : group - 1)) / group));
    return updates == kNone ? 0 : updates;
  }

 private:
  bp_limits limits_{};
  bool drop_last_ = false;
};

}  // namespace bp
