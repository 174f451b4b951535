// C++ authoring of learners. An on-policy learner derives from bp::OnPolicy and bp::LearnerPlugin<itself>, describes itself
// through its LearnerSpec, and implements Horizon, OnRollout, OnTick and Act; BP_PLUGINS ends the file. The function table,
// the exception barrier, `plan` and the state extension are made here. Envs that keep their channels on a device are refused,
// unless the class has `static constexpr bool kServesDevices = true`.
#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "backplane/ext/state.h"
#include "backplane/learner.h"
#include "backplane/monitor.hpp"
#include "backplane/plugin.hpp"

namespace bp {

// The only channel of a role in an env's spec; NULL if there is none, an error if there are several.
inline const bp_channel* FindChannel(const bp_env_spec* env, uint16_t role, const char* role_name) {
  const bp_channel* found = nullptr;
  for (uint64_t i = 0; i < env->n_channels; ++i) {
    // Walked by the writer's struct_size, which may be larger than ours.
    const auto* at = reinterpret_cast<const char*>(env->channels) + i * env->channels->struct_size;
    const auto* channel = reinterpret_cast<const bp_channel*>(at);
    if (channel->role != role) continue;
    if (found) {
      throw Unsupported(std::string("needs one ") + role_name + " channel, the env has '" + found->name + "' and '" +
                        channel->name + "'");
    }
    found = channel;
  }
  return found;
}

inline int64_t ElementCount(const bp_channel& channel) {
  int64_t n = 1;
  for (int i = 0; i < channel.ndim; ++i) n *= channel.shape[i];
  return n;
}

template <class T>
constexpr bp_dtype DtypeOf() {
  constexpr uint8_t code = std::is_floating_point_v<T> ? BP_DTYPE_FLOAT : std::is_signed_v<T> ? BP_DTYPE_INT : BP_DTYPE_UINT;
  return {code, sizeof(T) * 8, 1};
}
constexpr bool SameDtype(bp_dtype a, bp_dtype b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

// A tensor of the host, its dtype checked once; rows are contiguous, leading dimensions go by their strides.
template <class T>
class View {
 public:
  View() = default;
  View(const bp_tensor* tensor, const char* name) : tensor_(tensor) {
    using Value = std::remove_const_t<T>;
    if (!SameDtype(tensor->dtype, DtypeOf<Value>())) {
      throw Error(BP_E_INVALID_ARG, std::string("tensor '") + name + "' should have " + std::to_string(8 * sizeof(Value)) +
                                        "-bit elements of dtype code " + std::to_string(DtypeOf<Value>().code) + ", got " +
                                        std::to_string(tensor->dtype.bits) + " bits of code " +
                                        std::to_string(tensor->dtype.code));
    }
  }
  int64_t Size(int dim) const { return tensor_->shape[dim]; }
  T* At(int64_t i) const { return static_cast<T*>(tensor_->data) + i * tensor_->strides[0]; }
  T* At(int64_t t, int64_t row) const { return At(t) + row * tensor_->strides[1]; }
  explicit operator bool() const { return tensor_ != nullptr; }

 private:
  const bp_tensor* tensor_ = nullptr;
};

// What a request brought, by name.
class Delivery {
 public:
  explicit Delivery(const bp_delivery* raw) : raw_(raw) {}
  const bp_delivery& raw() const { return *raw_; }
  const bp_tensor* Find(const char* name) const {
    for (uint64_t i = 0; i < raw_->n_tensors; ++i) {
      if (std::strcmp(raw_->names[i], name) == 0) return raw_->tensors[i];
    }
    return nullptr;
  }
  template <class T>
  View<const T> Get(const char* name) const {
    const bp_tensor* tensor = Find(name);
    if (!tensor) throw Error(BP_E_INVALID_ARG, std::string("the delivery lacks tensor '") + name + "'");
    return {tensor, name};
  }

 private:
  const bp_delivery* raw_;
};

// Owns everything a bp_learner_spec points to. Add first, then read raw(): the addresses then stay until the end.
class LearnerSpec {
 public:
  void ActIn(const std::string& name) { AddName(&act_in_, name); }
  void Keep(const std::string& name) { AddName(&keep_, name); }
  // Output of `act` with the shape and bounds of an env's channel; copied, since the env's spec may go first.
  void ActOut(const bp_channel& like) {
    bp_channel channel = like;
    channel.struct_size = sizeof channel;
    channel.name = names_.emplace_back(like.name).c_str();
    channel.shape = Copy(&ints_, like.shape, like.ndim);
    channel.low = Copy(&doubles_, like.low, like.n_bounds);
    channel.high = Copy(&doubles_, like.high, like.n_bounds);
    if (like.nvec) channel.nvec = Copy(&ints_, like.nvec, like.space == BP_SPACE_MULTI_DISCRETE ? ElementCount(like) : 1);
    act_out_.push_back(channel);
  }
  // Output of `act` that the env does not see, float32; also kept for the rollout. scope: BP_SCOPE_*.
  void Extra(const char* name, const std::vector<int64_t>& shape = {}, uint16_t scope = BP_SCOPE_ROW) {
    bp_channel channel{};
    channel.role = BP_ROLE_EXTRA, channel.space = BP_SPACE_BOX, channel.scope = scope;
    channel.ndim = static_cast<uint16_t>(shape.size());
    channel.dtype = DtypeOf<float>();
    channel.name = name;
    channel.shape = shape.data();
    ActOut(channel);
    Keep(name);
  }
  void set_params(uint64_t n) { raw_.n_params = n; }
  void set_flags(uint64_t flags) { raw_.flags = flags; }

  const bp_learner_spec* raw() const {
    raw_.struct_size = sizeof raw_;
    raw_.act_in = act_in_.data();
    raw_.keep = keep_.data();
    raw_.act_out = act_out_.data();
    raw_.n_act_out = act_out_.size();
    return &raw_;
  }

 private:
  void AddName(std::vector<const char*>* list, const std::string& name) {
    list->back() = names_.emplace_back(name).c_str();
    list->push_back(nullptr);
  }
  template <class T>
  static const T* Copy(std::deque<std::vector<T>>* store, const T* values, uint64_t n) {
    return values && n > 0 ? store->emplace_back(values, values + n).data() : nullptr;
  }

  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::vector<const char*> act_in_{nullptr}, keep_{nullptr};
  std::vector<bp_channel> act_out_;
  mutable bp_learner_spec raw_{};
};

// Byte streams of the host, for numbers and vectors of numbers.
class Writer {
 public:
  explicit Writer(const bp_writer* raw) : raw_(raw) {}
  void Bytes(const void* data, uint64_t n) const {
    if (n > 0 && raw_->write(raw_, data, n) != BP_OK) throw Error(BP_E_IO, "could not write the learner's state");
  }
  template <class T>
  void Put(const T& value) const {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>, "padding is not deterministic");
    Bytes(&value, sizeof value);
  }
  template <class T>
  void PutAll(const T* values, uint64_t n) const {
    Put(n);
    Bytes(values, n * sizeof(T));
  }

 private:
  const bp_writer* raw_;
};

class Reader {
 public:
  explicit Reader(const bp_reader* raw) : raw_(raw) {}
  void Bytes(void* out, uint64_t n) const {
    if (n > 0 && raw_->read(raw_, out, n) != BP_OK) throw Error(BP_E_IO, "the learner's saved state is cut short");
  }
  template <class T>
  T Get() const {
    T value;
    Bytes(&value, sizeof value);
    return value;
  }
  // Refuses another number than `n`, naming `what`.
  template <class T>
  void GetAll(T* out, uint64_t n, const char* what) const {
    Expect(n, what);
    Bytes(out, n * sizeof(T));
  }
  void Expect(uint64_t wanted, const char* what) const {
    const auto found = Get<uint64_t>();
    if (found != wanted) {
      throw Error(BP_E_INVALID_ARG, std::string("the saved state has another shape: ") + what + " should be " +
                                        std::to_string(wanted) + ", got " + std::to_string(found));
    }
  }

 private:
  const bp_reader* raw_;
};

struct LearnerSetup {
  const bp_host* host;
  Config config;           // valid in the constructor only
  const bp_env_spec* env;  // likewise: copy what is needed
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

 private:
  const bp_host* host_;
};

// Collects a rollout, learns from it in ticks, repeats.
class OnPolicy : public Learner {
 public:
  using Learner::Learner;

  virtual uint64_t Horizon() const = 0;                      // steps of every row in the next rollout
  virtual uint64_t OnRollout(const Delivery& delivery) = 0;  // returns how many ticks it takes to learn from it
  virtual void OnTick(uint64_t /*index*/) {}                 // one bounded piece of work

  void Plan(const bp_limits& limits, bp_request* out_request) final {
    if (ticks_left_ > 0) {
      out_request->kind = BP_REQ_TICK;
      out_request->u.tick.phase = "update_backward";
      out_request->u.tick.est_ns = tick_ns_;
      return;
    }
    if (BP_HAS(&limits, progress)) progress_ = limits.progress;
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
                  "got a delivery of kind " + std::to_string(delivery.raw().kind) + " that it did not ask for");
    }
  }

 protected:
  // Share of the budget used when the current rollout was planned, 0 to 1. For schedules: one value per update, never 1.
  double progress() const { return progress_; }
  uint64_t ticks_left() const { return ticks_left_; }
  void SkipTicks() { ticks_left_ = 0; }
  // After loading a state: what was collected before it is gone.
  void Restart(uint64_t version) { ticks_left_ = 0, version_ = version; }
  uint64_t version() const { return version_; }

 private:
  uint64_t ticks_left_ = 0, tick_ = 0, version_ = 0, tick_ns_ = 0;
  double progress_ = 0;
};

// The ABI side of a learner class P, which has kAbout, kOptions (may be absent) and a constructor from LearnerSetup. With
// `void Save(const bp::Writer&) const` and `void Load(const bp::Reader&)` it also offers "bp.learner.state/1".
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
    return Guard(host, [&] {
      bool devices = false;
      if constexpr (requires { P::kServesDevices; }) devices = P::kServesDevices;
      if (env->device.type > BP_DEVICE_CPU && !devices)
        throw Unsupported("works on the CPU, and the env keeps its channels on a device (type " +
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
  static const void* GetExtension(const bp_learner*, const char* id) noexcept {
    if constexpr (requires { P::template Extension<P>(id); }) {
      if (const void* extension = P::template Extension<P>(id)) return extension;
    }
    if constexpr (requires(P & p, const Writer& w, const Reader& r) { p.Save(w), p.Load(r); }) {
      static constexpr bp_learner_state_1 state = {sizeof(bp_learner_state_1), 0, DoSave, DoLoad};
      if (std::strcmp(id, BP_LEARNER_STATE_1) == 0) return &state;
    }
    return nullptr;
  }
};

}  // namespace bp
