// C++ authoring of learners. An on-policy learner derives from bp::OnPolicy and bp::LearnerPlugin<itself>, declares its
// LearnerSpec, and implements Horizon, OnRollout, OnTick and Act; BP_PLUGINS ends the file. This header supplies the function
// table, the exception barrier, `plan` and the state extension. Envs with channels on a device are rejected unless the class
// has `static constexpr bool kServesDevices = true`.
#pragma once

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "backplane/learner_delivery.hpp"
#include "backplane/learner_device_use.hpp"
#include "backplane/learner_spec.hpp"
#include "backplane/learner_state.hpp"
#include "backplane/learner_tensors.hpp"
#include "backplane/monitor.hpp"  // Metrics
#include "backplane/plugin.hpp"

namespace bp {

struct LearnerSetup {
  const bp_host* host;
  Config config;           // valid only in the constructor
  const bp_env_spec* env;  // likewise: copy the parts you need
  uint64_t rows, seed;
};

class Learner {
 public:
  explicit Learner(const LearnerSetup& setup) : host_(setup.host) {}
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  virtual const bp_learner_spec* Spec() const = 0;                          // [any]
  virtual void Plan(const bp_limits& limits, bp_request* out_request) = 0;  // [control]
  virtual void Consume(const Delivery& delivery) = 0;                       // [control]
  virtual void Act(const bp_act& act) = 0;                                  // [rows]

  const bp_host* host() const { return host_; }

  // Checks the signatures of the derived class at compile time. Called by LearnerPlugin.
  template <class P>
  static constexpr void CheckHooks() {}

 private:
  const bp_host* host_;
};

// Collects a rollout, learns from it in ticks, repeats.
class OnPolicy : public Learner {
 public:
  using Learner::Learner;

  virtual uint64_t Horizon() const = 0;                      // steps per row in the next rollout
  virtual uint64_t OnRollout(const Delivery& delivery) = 0;  // returns the number of ticks for learning from it
  virtual void OnTick(uint64_t /*index*/) {}                 // one bounded piece of work
  virtual void OnLimits(const bp_limits& /*limits*/) {}      // the host's present limits, before each rollout

  void Plan(const bp_limits& limits, bp_request* out_request) final {
    if (ticks_left_ > 0) {
      out_request->kind = BP_REQ_TICK;
      out_request->u.tick.phase = BP_PHASE_UPDATE_BACKWARD;
      out_request->u.tick.est_ns = tick_ns_;
      return;
    }
    if (BP_HAS(&limits, progress)) progress_ = limits.progress;
    OnLimits(limits);
    out_request->kind = BP_REQ_ROLLOUT;
    out_request->u.rollout.horizon = Horizon();
    out_request->u.rollout.policy_version = version_;
  }

  void Consume(const Delivery& delivery) final {
    if (delivery.raw().kind == BP_REQ_ROLLOUT) {
      ticks_left_ = OnRollout(delivery);
      tick_ = 0;
      ++version_;
    } else if (delivery.raw().kind == BP_REQ_TICK && ticks_left_ > 0) {
      const auto start = std::chrono::steady_clock::now();
      --ticks_left_;  // first, so that OnTick may call SkipTicks
      OnTick(tick_++);
      tick_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    } else {
      throw Error(BP_E_INVALID_ARG,
                  "got a delivery of kind " + std::to_string(delivery.raw().kind) + ", which it did not request");
    }
  }

  template <class P>
  static constexpr void CheckHooks() {
    static_assert(
        requires { static_cast<void (P::*)(uint64_t)>(&P::OnTick); },
        "OnTick of a learner should be: void OnTick(uint64_t index) override, public");
    detail::CheckDeviceUse<P>();
  }

  // Extensions of the derived class in addition to the state: `bp_device_use DeviceUse() const; void ResetPeak();` support
  // ext/device_use.h. Called by LearnerPlugin.
  template <class P>
  static const void* Extension(const char* id) {
    return detail::DeviceUseExtension<P>(id);
  }

 protected:
  // Share of the budget used when the current rollout was planned, 0 to 1. For schedules: one value per update, never 1.
  double progress() const { return progress_; }
  uint64_t ticks_left() const { return ticks_left_; }
  void SkipTicks() { ticks_left_ = 0; }
  // Called after loading a state: drops data collected earlier.
  void Restart(uint64_t version) { ticks_left_ = 0, version_ = version; }
  uint64_t version() const { return version_; }

 private:
  uint64_t ticks_left_ = 0, tick_ = 0, version_ = 0, tick_ns_ = 0;
  double progress_ = 0;
};

namespace detail {
BP_NAMED(Tensors)

template <class P>
concept SavesState = requires(P& p, const P& c, const Writer& w, const Reader& r) {
  c.Save(w), p.Load(r);
};
template <class P>
concept SavesPolicy = requires(P& p, const P& c, const Writer& w, const Reader& r) {
  c.SavePolicy(w), p.LoadPolicy(r), std::string(c.PolicyForm());
};
template <class P>
concept StartsFromPolicy = requires(P& p, const Reader& r) {
  p.StartPolicy(r);
};
template <class P>
concept TellsTensors = requires(const P& c, NamedTensors* t) {
  c.Tensors(t);
};
}  // namespace detail

// The ABI side of a learner class P, which has kAbout, kOptions (optional) and a constructor from LearnerSetup. With `void
// Save(const bp::Writer&) const` and `void Load(const bp::Reader&)` it supports "bp.learner.state/1", unless it has `bool
// KeepsState() const` and that returns false; with `void
// Tensors(bp::NamedTensors*) const` also "bp.learner.tensors/1", with SavePolicy and LoadPolicy (like Save and Load) and
// `std::string PolicyForm() const` also "bp.learner.policy/1". Its `start` is StartPolicy (like Load) or else LoadPolicy.
template <class P>
class LearnerPlugin {
 public:
  static constexpr uint32_t kKind = BP_KIND_LEARNER;

  static const void* Api() {
    static constexpr bp_learner_api api = {
        sizeof(bp_learner_api), 0, Create, Destroy, GetSpec, DoPlan, DoConsume, DoAct, GetExtension};
    return &api;
  }

 private:
  static P* Self(bp_learner* learner) { return reinterpret_cast<P*>(learner); }

  static bp_status Create(const bp_host* host, const bp_config* config, const bp_env_spec* env, uint64_t rows, uint64_t seed,
                          bp_learner** out) noexcept {
    static_assert(
        detail::SavesState<P> || !(detail::Names_Save<P> || detail::Names_Load<P>),
        "the state of a learner needs both functions: void Save(const bp::Writer&) const, void Load(const bp::Reader&)");
    static_assert(
        detail::SavesPolicy<P> || !(detail::Names_SavePolicy<P> || detail::Names_LoadPolicy<P> || detail::Names_PolicyForm<P>),
        "the policy of a learner needs all of: void SavePolicy(const bp::Writer&) const, void LoadPolicy(const "
        "bp::Reader&), std::string PolicyForm() const");
    static_assert(detail::TellsTensors<P> || !detail::Names_Tensors<P>,
                  "a learner lists its weights in: void Tensors(bp::NamedTensors*) const, public");
    P::template CheckHooks<P>();
    return Guard(host, [&] {
      bool devices = false;
      if constexpr (requires { P::kServesDevices; }) devices = P::kServesDevices;
      if (env->device.type > BP_DEVICE_CPU && !devices)
        throw Unsupported("works on the CPU, but the env keeps its channels on a device (type " +
                          std::to_string(env->device.type) + ")");
      *out = reinterpret_cast<bp_learner*>(new P(LearnerSetup{host, Config(config), env, rows, seed}));
    });
  }
  static void Destroy(bp_learner* learner) noexcept { delete Self(learner); }
  static const bp_learner_spec* GetSpec(const bp_learner* learner) noexcept {
    return reinterpret_cast<const P*>(learner)->Spec();
  }
  static bp_status DoPlan(bp_learner* learner, const bp_limits* limits, bp_request* out) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->Plan(*limits, out); });
  }
  static bp_status DoConsume(bp_learner* learner, const bp_delivery* delivery) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->Consume(Delivery(delivery)); });
  }
  static bp_status DoAct(bp_learner* learner, const bp_act* act) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->Act(*act); });
  }
  static bp_status DoSave(bp_learner* learner, const bp_writer* writer) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->Save(Writer(writer)); });
  }
  static bp_status DoLoad(bp_learner* learner, const bp_reader* reader) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->Load(Reader(reader)); });
  }
  static bp_status DoSavePolicy(bp_learner* learner, const bp_writer* writer) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->SavePolicy(Writer(writer)); });
  }
  static bp_status DoLoadPolicy(bp_learner* learner, const bp_reader* reader) noexcept {
    return Guard(Self(learner)->host(), [&] { Self(learner)->LoadPolicy(Reader(reader)); });
  }
  static bp_status DoStartPolicy(bp_learner* learner, const bp_reader* reader) noexcept {
    return Guard(Self(learner)->host(), [&] {
      if constexpr (detail::StartsFromPolicy<P>) return Self(learner)->StartPolicy(Reader(reader));
      Self(learner)->LoadPolicy(Reader(reader));
    });
  }
  static const char* DoPolicyForm(bp_learner* learner) noexcept {
    std::string& form = static_cast<LearnerPlugin*>(Self(learner))->form_;
    Guard(Self(learner)->host(), [&] { form = Self(learner)->PolicyForm(); });
    return form.c_str();
  }
  static bp_status DoTensors(bp_learner* learner, bp_named_tensors* out) noexcept {
    return Guard(Self(learner)->host(), [&] {
      NamedTensors& told = static_cast<LearnerPlugin*>(Self(learner))->told_;
      told.Clear();
      std::as_const(*Self(learner)).Tensors(&told);
      told.Fill(out);
    });
  }
  static const void* GetExtension([[maybe_unused]] const bp_learner* learner, const char* id) noexcept {
    if constexpr (requires { P::template Extension<P>(id); }) {
      if (const void* extension = P::template Extension<P>(id)) return extension;
    }
    if constexpr (detail::SavesState<P>) {
      static constexpr bp_learner_state_1 state = {sizeof(bp_learner_state_1), 0, DoSave, DoLoad};
      bool keeps = true;
      if constexpr (requires(const P& c) { bool{c.KeepsState()}; }) keeps = reinterpret_cast<const P*>(learner)->KeepsState();
      if (keeps && std::strcmp(id, BP_LEARNER_STATE_1) == 0) return &state;
    }
    if constexpr (detail::SavesPolicy<P>) {
      static constexpr bp_learner_policy_1 policy = {
          sizeof(bp_learner_policy_1), 0, DoSavePolicy, DoLoadPolicy, DoPolicyForm, DoStartPolicy};
      if (std::strcmp(id, BP_LEARNER_POLICY_1) == 0) return &policy;
    }
    if constexpr (detail::TellsTensors<P>) {
      static constexpr bp_learner_tensors_1 tensors = {sizeof(bp_learner_tensors_1), 0, DoTensors};
      if (std::strcmp(id, BP_LEARNER_TENSORS_1) == 0) return &tensors;
    }
    return nullptr;
  }

  NamedTensors told_;  // valid since the last call of DoTensors
  std::string form_;   // valid since the last call of DoPolicyForm
};

}  // namespace bp
