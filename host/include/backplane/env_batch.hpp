// bp::EnvBatch<B>: the function table, the bound buffers and the snapshots around a batch of rows. Part of env.hpp, which
// authors include and which lists the members of B.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "backplane/env_labels.hpp"
#include "backplane/env_parameters.hpp"
#include "backplane/env_pictures.hpp"
#include "backplane/env_slot.hpp"
#include "backplane/env_states.hpp"
#include "backplane/ext/autoreset.h"
#include "backplane/ext/batch.h"
#include "backplane/ext/memory.h"
#include "backplane/ext/snapshot.h"
#include "backplane/ext/source.h"
#include "backplane/ext/state.h"
#include "backplane/learner_state.hpp"
#include "backplane/rng.h"

namespace bp {

// The random stream of a row, keyed by the episode's seed.
class Rng {
 public:
  explicit Rng(uint64_t seed = 0) : state_{seed, 0} {}
  double Uniform() { return bp_rng_uniform(&state_); }  // [0, 1)
  double Range(double low, double high) { return bp_rng_range(&state_, low, high); }
  double Normal() { return bp_rng_normal(&state_); }
  uint64_t Below(uint64_t n) { return bp_rng_below(&state_, n); }
  uint64_t U64() { return bp_rng_u64(&state_); }

 private:
  bp_rng state_;
};

struct StepResult {
  double reward = 0;
  bool terminated = false;
};

namespace detail {

template <class P>
constexpr About WithRowFlags(About about) {
  bool concurrent = true;
  if constexpr (requires { P::kRowsConcurrent; }) concurrent = P::kRowsConcurrent;
  if (concurrent) about.flags |= BP_FLAG_ROWS_CONCURRENT;
  return about;
}

BP_NAMED(StateBytes)
BP_NAMED(StateKey)
BP_NAMED(NextSeeds)
BP_NAMED(Allocate)
BP_NAMED(Release)
BP_NAMED(Gather)
BP_NAMED(Items)
BP_NAMED(Read)
BP_NAMED(SaveState)
BP_NAMED(LoadState)
BP_NAMED(KeepsState)
BP_NAMED(StepsWhole)

template <class B>
concept TakesSnapshots = requires(B& b, const B& c, void* p) {
  c.StateBytes(), c.Save(uint64_t{}, p), b.Load(uint64_t{}, p);
};
template <class B>
concept ResetsItself = requires(B& b, const uint64_t* seeds) {
  b.NextSeeds(uint64_t{}, seeds);
};
template <class B>
concept HasMemory = requires(B& b, void* p, const void* c, const int64_t* indices) {
  b.Allocate(uint64_t{}), b.Release(p), b.ToHost(p, c, uint64_t{}), b.ToDevice(p, c, uint64_t{}), b.Copy(p, c, uint64_t{});
  b.Gather(p, c, uint64_t{}, uint64_t{}, indices);
};
template <class B>
concept HasState = requires(B& b, const Writer& writer, const Reader& reader) {
  b.SaveState(writer), b.LoadState(reader);
};
template <class B>
concept IsSource = requires(B& b, const B& c, const Slot& slot) {
  c.Items(), b.Read(uint64_t{}, uint64_t{}, uint64_t{}, slot);
};

template <class B>
constexpr void CheckBatch() {
  static_assert(
      TakesSnapshots<B> || !(Names_StateBytes<B> || Names_Save<B> || Names_Load<B>),
      "snapshots of an env need all three functions: uint64_t StateBytes() const, void Save(uint64_t row, void*) const, "
      "void Load(uint64_t row, const void*)");
  static_assert(
      !Names_StateKey<B> || requires(const B& c) { uint64_t{c.StateKey()}; },
      "StateKey of an env should be: uint64_t StateKey() const");
  static_assert(
      HasState<B> || !(Names_SaveState<B> || Names_LoadState<B>),
      "the state of an env needs both functions: void SaveState(const bp::Writer&), void LoadState(const bp::Reader&)");
  static_assert(
      !Names_KeepsState<B> || requires(const B& c) { bool{c.KeepsState()}; },
      "KeepsState of an env should be: bool KeepsState() const");
  static_assert(
      !Names_StepsWhole<B> || requires(const B& c) { bool{c.StepsWhole()}; },
      "StepsWhole of an env should be: bool StepsWhole() const");
  static_assert(!Names_NextSeeds<B> || ResetsItself<B>,
                "NextSeeds of an env should be: void NextSeeds(uint64_t per_row, const uint64_t* seeds)");
  static_assert(HasMemory<B> || !(Names_Allocate<B> || Names_Release<B> || Names_Gather<B>),
                "memory of an env needs all six functions of env.hpp: Allocate, Release, ToHost, ToDevice, Copy, Gather");
  static_assert(
      IsSource<B> || !(Names_Items<B> || Names_Read<B>),
      "a data set needs both functions: uint64_t Items() const, void Read(uint64_t seed, uint64_t first, uint64_t n, const "
      "bp::Slot&)");
  CheckPictures<B>();
  CheckStates<B>();
  CheckParameters<B>();
  static_assert(HasLabels<B> || !Names_Labels<B>,
                "labels of an env should be: std::vector<bp::Label> Labels(std::string_view channel) const");
}

// An instance: the author's batch, its table for the host, and the bound buffers. Snapshots are {key, state, state channels}.
template <class B>
class EnvInstance {
 public:
  EnvInstance(const bp_host* host, const Config& config, uint64_t rows)
      : host_(host),
        rows_(rows),
        batch_(Made(host, ReadOptions<B>(config), rows)),
        table_(batch_.Spec()),
        last_slot_(rows, 0) {}

  const bp_host* host() const { return host_; }
  uint64_t rows() const { return rows_; }
  B& batch() { return batch_; }
  const B& batch() const { return batch_; }
  const bp_env_spec* spec() const { return &table_.view; }
  void Bind(const bp_frame* frames, uint64_t n_frames) {
    if (n_frames == 0) throw Error(BP_E_INVALID_ARG, "bind needs at least one slot");
    views_ = CheckedViews(table_.spec, rows_, frames, n_frames);
    n_frames_ = static_cast<uint32_t>(n_frames);
    last_slot_.assign(rows_, n_frames_ - 1);
  }
  void Reset(uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    CheckRange(slot, n_frames_, begin, end);
    batch_.Reset(At(slot), begin, end, mask, seeds);
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) last_slot_[r] = slot;
  }
  void Step(uint32_t slot, uint64_t begin, uint64_t end) {
    CheckRange(slot, n_frames_ > 1 ? n_frames_ - 1 : n_frames_, begin, end);
    batch_.Step(At(slot), begin, end);
    std::fill(last_slot_.begin() + begin, last_slot_.begin() + end, slot);
  }

  void Read(uint64_t seed, uint64_t first, uint64_t n, const bp_frame& frame) {
    if (first > batch_.Items() || n > batch_.Items() - first)
      throw Error(BP_E_INVALID_ARG, "expected items within 0 .. " + std::to_string(batch_.Items()));
    const std::vector<ChannelView> views = ItemViews(table_.spec, n, frame);
    batch_.Read(seed, first, n, Slot(views.data(), views.size(), 0));
  }

  uint64_t RowBytes() const {
    uint64_t bytes = sizeof(uint64_t) + batch_.StateBytes();
    for (size_t c = 0; c < table_.spec.channels.size(); ++c) bytes += ChannelBytes(table_.spec.channels[c]);
    return bytes;
  }
  void Get(uint64_t row, char* out) const {
    CheckRange(0, n_frames_, row, row + 1);
    const uint64_t key = Key();
    std::memcpy(out, &key, sizeof key);
    batch_.Save(row, out + sizeof key);
    CopyChannels(row, last_slot_[row], out + sizeof key + batch_.StateBytes(), nullptr);
  }
  // Writes the observation to the last slot: state entry 0 of a rollout, or the only slot.
  void Set(uint64_t row, const char* data) {
    CheckRange(0, n_frames_, row, row + 1);
    uint64_t key;
    std::memcpy(&key, data, sizeof key);
    if (key != Key()) throw Error(BP_E_INVALID_ARG, "the snapshot comes from a different env, version, model or library");
    batch_.Load(row, data + sizeof key);
    last_slot_[row] = n_frames_ - 1;
    CopyChannels(row, n_frames_ - 1, nullptr, data + sizeof key + batch_.StateBytes());
  }
  void SetState(uint64_t row, const double* values) {
    CheckRange(0, n_frames_, row, row + 1);
    batch_.SetState(row, values, At(n_frames_ - 1));
    last_slot_[row] = n_frames_ - 1;
  }

 private:
  static B Made([[maybe_unused]] const bp_host* host, const OptionsOf<B>& options, uint64_t rows) {
    if constexpr (!requires { B::kOfRows; }) CheckBatch<B>();
    constexpr bool has_none = std::is_same_v<OptionsOf<B>, NoOptions>;
    if constexpr (std::is_constructible_v<B, const bp_host*, const OptionsOf<B>&, uint64_t>) {
      return B(host, options, rows);
    } else if constexpr (has_none && std::is_constructible_v<B, uint64_t>) {
      return B(rows);
    } else {
      static_assert(
          std::is_constructible_v<B, const OptionsOf<B>&, uint64_t>,
          "an env of all rows is made by B(const Options&, uint64_t rows) or B(const bp_host*, const Options&, uint64_t "
          "rows), where Options is what kOptions binds, or without options by B(uint64_t rows)");
      return B(options, rows);
    }
  }
  Slot At(uint32_t slot) const {
    const size_t n = table_.spec.channels.size();
    return {&views_[slot * n], n, slot};
  }
  void CheckRange(uint32_t slot, uint32_t slots, uint64_t begin, uint64_t end) const {
    if (slot >= slots) throw Error(BP_E_INVALID_ARG, "slot " + std::to_string(slot) + " is not bound for this call");
    if (begin > end || end > rows_) throw Error(BP_E_INVALID_ARG, "expected rows within 0 .. " + std::to_string(rows_));
  }
  uint64_t ChannelBytes(const Channel& channel) const {
    if (!IsStateRole(channel.role)) return 0;
    uint64_t bytes = channel.dtype.bits / 8 * table_.spec.AgentsIn(channel);
    for (const int64_t n : channel.shape) bytes *= n;
    return bytes;
  }
  // Copies the row's state channels of a slot to `out` or from `in`.
  void CopyChannels(uint64_t row, uint32_t slot, char* out, const char* in) const {
    uint64_t at = 0;
    for (size_t c = 0; c < table_.spec.channels.size(); ++c) {
      const uint64_t bytes = ChannelBytes(table_.spec.channels[c]);
      if (bytes == 0) continue;
      const ChannelView& view = views_[slot * table_.spec.channels.size() + c];
      char* const data = view.data + row * view.row_stride_bytes;
      out ? std::memcpy(out + at, data, bytes) : std::memcpy(data, in + at, bytes);
      at += bytes;
    }
  }
  uint64_t Key() const {
    uint64_t key = Fnv(B::kAbout.version, Fnv(B::kAbout.id));
    for (const Channel& c : table_.spec.channels) key = Fnv(c.name + Text(c.shape.data(), c.shape.size()), key);
    if constexpr (requires { batch_.StateKey(); }) key ^= batch_.StateKey() * 0x9E3779B97F4A7C15u;
    return key;
  }

  const bp_host* host_;
  uint64_t rows_;
  B batch_;
  SpecTable table_;
  std::vector<ChannelView> views_;
  std::vector<uint32_t> last_slot_;  // [rows] slot of the row's newest observation
  uint32_t n_frames_ = 0;
};

}  // namespace detail

// The plugin for a batch class B: the C table over EnvInstance<B>.
template <class B>
struct EnvBatch : B {
  static constexpr uint32_t kKind = BP_KIND_ENV;
  static constexpr About kAbout = detail::WithRowFlags<B>(B::kAbout);
  static const void* Api() {
    static constexpr bp_env_api api = {sizeof(bp_env_api), 0, Create, Destroy, Spec, Bind, Reset, Step, GetExtension};
    return &api;
  }

 private:
  using Instance = detail::EnvInstance<B>;
  static Instance* Of(bp_env* env) { return reinterpret_cast<Instance*>(env); }
  static const Instance* Of(const bp_env* env) { return reinterpret_cast<const Instance*>(env); }

  static bp_status Create(const bp_host* host, const bp_config* config, uint64_t rows, bp_env** out_env) {
    return Guard(host, [&] { *out_env = reinterpret_cast<bp_env*>(new Instance(host, Config(config), rows)); });
  }
  static void Destroy(bp_env* env) { delete Of(env); }
  static const bp_env_spec* Spec(const bp_env* env) { return Of(env)->spec(); }
  static bp_status Bind(bp_env* env, const bp_frame* frames, uint64_t n_frames) {
    return Guard(Of(env)->host(), [&] { Of(env)->Bind(frames, n_frames); });
  }
  static bp_status Reset(bp_env* env, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    return Guard(Of(env)->host(), [&] { Of(env)->Reset(slot, begin, end, mask, seeds); });
  }
  static bp_status Step(bp_env* env, uint32_t slot, uint64_t begin, uint64_t end) {
    return Guard(Of(env)->host(), [&] { Of(env)->Step(slot, begin, end); });
  }
  static uint64_t RowBytes(const bp_env* env) { return Of(env)->RowBytes(); }
  static bp_status Get(bp_env* env, uint64_t row, void* out) {
    return Guard(Of(env)->host(), [&] { Of(env)->Get(row, static_cast<char*>(out)); });
  }
  static bp_status Set(bp_env* env, uint64_t row, const void* data) {
    return Guard(Of(env)->host(), [&] { Of(env)->Set(row, static_cast<const char*>(data)); });
  }
  template <class Function>
  static bp_status InBatch(bp_env* env, Function&& function) {
    return Guard(Of(env)->host(), [&] { function(Of(env)->batch()); });
  }
  static const void* Memory() {
    static constexpr bp_env_memory_1 memory = {
        sizeof(bp_env_memory_1),
        0,
        [](bp_env* env, uint64_t bytes, void** out) { return InBatch(env, [&](B& b) { *out = b.Allocate(bytes); }); },
        [](bp_env* env, void* device) { Of(env)->batch().Release(device); },
        [](bp_env* env, void* host, const void* device, uint64_t bytes) {
          return InBatch(env, [&](B& b) { b.ToHost(host, device, bytes); });
        },
        [](bp_env* env, void* device, const void* host, uint64_t bytes) {
          return InBatch(env, [&](B& b) { b.ToDevice(device, host, bytes); });
        },
        [](bp_env* env, void* to, const void* from, uint64_t bytes) {
          return InBatch(env, [&](B& b) { b.Copy(to, from, bytes); });
        },
        [](bp_env* env, void* to, const void* from, uint64_t bytes_each, uint64_t n, const int64_t* indices) {
          return InBatch(env, [&](B& b) { b.Gather(to, from, bytes_each, n, indices); });
        }};
    return &memory;
  }
  static bp_status NextSeeds(bp_env* env, uint64_t per_row, const uint64_t* seeds) {
    return InBatch(env, [&](B& b) { b.NextSeeds(per_row, seeds); });
  }
  static bp_status SaveState(bp_env* env, const bp_writer* writer) {
    return InBatch(env, [&](B& b) { b.SaveState(Writer(writer)); });
  }
  static bp_status LoadState(bp_env* env, const bp_reader* reader) {
    return InBatch(env, [&](B& b) { b.LoadState(Reader(reader)); });
  }
  static int32_t Whole(const bp_env* env) { return int32_t{Of(env)->batch().StepsWhole()}; }
  static uint64_t Items(const bp_env* env) { return Of(env)->batch().Items(); }
  static bp_status Read(bp_env* env, uint64_t seed, uint64_t first, uint64_t n, const bp_frame* frame) {
    return Guard(Of(env)->host(), [&] { Of(env)->Read(seed, first, n, *frame); });
  }
  static const void* GetExtension([[maybe_unused]] const bp_env* env, [[maybe_unused]] const char* id) {
    if constexpr (detail::IsSource<B>) {
      static constexpr bp_env_source_1 source = {sizeof(bp_env_source_1), 0, Items, Read};
      if (std::string_view(id) == BP_ENV_SOURCE_1) return &source;
    }
    if constexpr (detail::Names_StepsWhole<B>) {
      static constexpr bp_env_batch_1 batch = {sizeof(bp_env_batch_1), 0, Whole};
      if (std::string_view(id) == BP_ENV_BATCH_1) return &batch;
    }
    if constexpr (detail::ResetsItself<B>) {
      static constexpr bp_env_autoreset_1 autoreset = {sizeof(bp_env_autoreset_1), 0, NextSeeds};
      if (std::string_view(id) == BP_ENV_AUTORESET_1) return &autoreset;
    }
    if constexpr (detail::HasMemory<B>) {
      if (std::string_view(id) == BP_ENV_MEMORY_1 && Of(env)->spec()->device.type != BP_DEVICE_CPU) return Memory();
    }
    if constexpr (detail::TakesSnapshots<B>) {
      static constexpr bp_env_snapshot_1 snapshot = {sizeof(bp_env_snapshot_1), 0, RowBytes, Get, Set};
      if (std::string_view(id) == BP_ENV_SNAPSHOT_1) return &snapshot;
    }
    if constexpr (detail::HasState<B>) {
      static constexpr bp_env_state_1 state = {sizeof(bp_env_state_1), 0, SaveState, LoadState};
      bool keeps = true;
      if constexpr (requires(const B& c) { c.KeepsState(); }) keeps = Of(env)->batch().KeepsState();
      if (keeps && std::string_view(id) == BP_ENV_STATE_1) return &state;
    }
    if (const void* states = detail::States<Instance>::Table(id)) return states;
    if (const void* parameters = detail::ParameterCalls<Instance>::Table(id)) return parameters;
    if (const void* labels = detail::LabelCalls<Instance>::Table(id)) return labels;
    if constexpr (requires(const B& c) { bool{c.DrawsPictures()}; }) {
      if (!Of(env)->batch().DrawsPictures()) return nullptr;
    }
    return detail::Pictures<Instance>::Table(id);
  }
};

}  // namespace bp
