// C++ authoring of learners that store every step and learn while they collect, such as SAC, TD3 and DQN. Derives from
// bp::Learner like OnPolicy; see learner.hpp. Such a plugin ends with BP_PLUGINS_SINCE(1, ...), because it needs rollouts in
// parts. replay.hpp has a buffer for the steps.
#pragma once

#include <algorithm>
#include <string>

#include "backplane/learner.hpp"

namespace bp {

// When to learn. A frame is a step of all rows, an env step is a step of one row.
struct OffPolicySchedule {
  uint64_t horizon = 1000;         // frames of an iteration: a line of metrics; rounded up to a multiple of train_freq
  uint64_t train_freq = 1;         // frames between gradient steps; the part of a rollout that is delivered at a time
  int64_t gradient_steps = 1;      // per train_freq frames; -1: one for each env step made since the last ones
  uint64_t learning_starts = 100;  // env steps without a gradient step, which are not made up for later
};

class OffPolicy : public Learner {
 public:
  OffPolicy(const LearnerSetup& setup, const OffPolicySchedule& schedule)
      : Learner(setup), schedule_(schedule), rows_(setup.rows) {
    schedule_.train_freq = std::max<uint64_t>(schedule_.train_freq, 1);
    const uint64_t parts = (schedule_.horizon + schedule_.train_freq - 1) / schedule_.train_freq;
    schedule_.horizon = std::max<uint64_t>(parts, 1) * schedule_.train_freq;
    random_frames_ = (schedule_.learning_starts + rows_ - 1) / rows_;
  }

  // Stores the frames of a part, which is valid only during the call.
  virtual void OnPart(const Delivery& part) = 0;
  // Makes a gradient step. False: it made none, because too little is stored.
  virtual bool OnUpdate() = 0;
  // After the last part of an iteration, which had this number of gradient steps.
  virtual void OnIteration(uint64_t /*updates*/) {}
  virtual void OnLimits(const bp_limits& /*limits*/) {}  // the host's present limits, before each iteration

  void Plan(const bp_limits& limits, bp_request* out_request) final {
    OnLimits(limits);
    out_request->kind = BP_REQ_ROLLOUT;
    out_request->u.rollout.horizon = schedule_.horizon;
    out_request->u.rollout.policy_version = version_;
    out_request->u.rollout.part = schedule_.train_freq;
    updates_ = 0, planned_ = true;
  }

  void Consume(const Delivery& delivery) final {
    if (delivery.raw().kind != BP_REQ_ROLLOUT)
      throw Error(BP_E_INVALID_ARG,
                  "expected a part of a rollout, got a delivery of kind " + std::to_string(delivery.raw().kind));
    OnPart(delivery);
    const uint64_t before = frames_;
    frames_ += static_cast<uint64_t>(delivery.Get<float>("reward").Size(0));
    for (uint64_t turn = before / schedule_.train_freq + 1; turn <= frames_ / schedule_.train_freq; ++turn) {
      if (turn * schedule_.train_freq * rows_ <= schedule_.learning_starts) continue;
      const uint64_t steps =
          schedule_.gradient_steps < 0 ? schedule_.train_freq * rows_ : static_cast<uint64_t>(schedule_.gradient_steps);
      for (uint64_t i = 0; i < steps && OnUpdate(); ++i) ++updates_;
    }
    if (delivery.raw().index + 1 < delivery.raw().count) return;
    ++version_;
    OnIteration(updates_);
  }

  template <class P>
  static constexpr void CheckHooks() {
    static_assert(
        requires { static_cast<void (P::*)(const bp_limits&)>(&P::OnLimits); },
        "OnLimits of a learner should be: void OnLimits(const bp_limits&) override, public");
    static_assert(
        requires { static_cast<void (P::*)(uint64_t)>(&P::OnIteration); },
        "OnIteration of a learner should be: void OnIteration(uint64_t updates) override, public");
    detail::CheckDeviceUse<P>();
  }

  // Extensions of the derived class in addition to the state. Called by LearnerPlugin.
  template <class P>
  static const void* Extension(const char* id) {
    return detail::DeviceUseExtension<P>(id);
  }

 protected:
  const OffPolicySchedule& schedule() const { return schedule_; }
  uint64_t frames() const { return frames_; }  // stored in this trial
  bool planned() const { return planned_; }    // has planned, or loaded a policy

  // Whether `act` draws random actions: in the first learning_starts env steps of a trial that does not start from a policy,
  // also after a resume, but not GREEDY or for candidates. [rows]
  bool ActsRandomly(const bp_act& act) const {
    return act.step < random_frames_ && !(act.flags & BP_ACT_GREEDY) && act.candidate == nullptr;
  }

  // The schedule's part of the state, and its part of the policy, on which ActsRandomly depends in a rollout worker.
  void SaveSchedule(const Writer& writer) const {
    for (const uint64_t number : {frames_, version_, random_frames_}) writer.Put(number);
  }
  void LoadSchedule(const Reader& reader) {
    for (uint64_t* number : {&frames_, &version_, &random_frames_}) *number = reader.Get<uint64_t>();
  }
  // Before the first plan, a policy is one to begin with.
  void SaveRandom(const Writer& writer) const { writer.Put(planned_ ? random_frames_ : uint64_t{0}); }
  void LoadRandom(const Reader& reader) { random_frames_ = reader.Get<uint64_t>(), planned_ = true; }
  // For StartPolicy, and for Load if the ring is empty afterwards, as in a next stage: the loaded policy acts from the first
  // step, and learning_starts counts from there.
  void BeginWithPolicy() { random_frames_ = frames_ = 0; }

 private:
  OffPolicySchedule schedule_;
  uint64_t rows_, frames_ = 0, version_ = 0, updates_ = 0, random_frames_ = 0;
  bool planned_ = false;
};

}  // namespace bp
