// C++ authoring of wrappers, envs over another env (ext/wrapper.h). A wrapper is a batch class W, as in env.hpp, made by
// W(const bp_host*, const Options&, uint64_t rows) and exported by BP_PLUGINS(bp::Wrapper<W>):
//
//   class HalfReward {
//    public:
//     static constexpr bp::About kAbout{.id = "env.half_reward", .version = "1.0.0", .summary = "Halves the reward.",
//                                       .flags = BP_FLAG_WRAPPER};
//     HalfReward(const bp_host* host, const bp::NoOptions&, uint64_t) : below_(host) {}
//     bp::EnvSpec Spec() const { return spec_; }  // only the channels that it replaces
//     void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
//       below_.Reset(slot, begin, end, mask, seeds);
//     }
//     void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
//       below_.Step(slot, begin, end);
//       const auto in = below_.Rows<float>(reward_below_, slot), out = slot.Rows(reward_);
//       for (uint64_t r = begin; r < end; ++r) out[r][0] = in[r][0] / 2;
//     }
//     // ... and StateBytes, Save, Load; bp::NoMemory has them for a wrapper without memory
//    private:
//     bp::EnvBelow below_;
//     bp::EnvSpec spec_ = bp::EnvSpec().Reward();
//     bp::Handle<float> reward_ = spec_.Get<float>(BP_ROLE_REWARD);
//     size_t reward_below_ = below_.Index(BP_ROLE_REWARD);
//   };
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backplane/env.hpp"
#include "backplane/ext/wrapper.h"

namespace bp {

// The env below a wrapper. Channels are known by their index in its spec. Calls throw Error.
class EnvBelow {
 public:
  explicit EnvBelow(const bp_host* host)
      : host_(host), table_(static_cast<const bp_host_env_1*>(host->get_extension(host, BP_HOST_ENV_1))) {
    if (!table_) throw ConfigError("is a wrapper, which needs an env below it: name it in env.wrappers");
  }

  const bp_env_spec& spec() const { return *table_->spec(host_); }
  const bp_channel& channel(size_t index) const {
    const auto* first = reinterpret_cast<const char*>(spec().channels);
    return *reinterpret_cast<const bp_channel*>(first + index * spec().channels->struct_size);
  }
  size_t size() const { return spec().n_channels; }  // number of channels
  uint64_t PerRow(size_t index) const { return AgentsIn(spec(), channel(index)); }
  // Indices of the channels with a role, in order.
  std::vector<size_t> Indices(uint16_t role) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < size(); ++i)
      if (channel(i).role == role) found.push_back(i);
    return found;
  }
  // The first channel with a role, or the one with a name. Throws a ConfigError if there is none.
  size_t Index(uint16_t role) const {
    const std::vector<size_t> found = Indices(role);
    if (found.empty()) throw ConfigError(std::string("expected a channel of role ") + RoleText(role) + " below, got none");
    return found.front();
  }
  size_t Index(std::string_view name) const {
    std::string names;
    for (size_t i = 0; i < size(); ++i) {
      if (name == channel(i).name) return i;
      names += (i ? ", " : "") + std::string(channel(i).name);
    }
    throw ConfigError("expected a channel of the env below (" + names + "), got '" + std::string(name) + "'");
  }
  // Its declaration, to be changed and declared by the wrapper.
  Channel Copy(size_t index) const {
    const bp_channel& c = channel(index);
    Channel out{.role = c.role, .name = c.name, .dtype = c.dtype, .space = c.space, .scope = c.scope};
    int64_t elements = 1;
    for (uint16_t i = 0; i < c.ndim; ++i) out.shape.push_back(c.shape[i]), elements *= c.shape[i];
    if (c.n_bounds > 0) out.low.assign(c.low, c.low + c.n_bounds), out.high.assign(c.high, c.high + c.n_bounds);
    if (c.nvec) out.nvec.assign(c.nvec, c.nvec + (c.space == BP_SPACE_MULTI_DISCRETE ? elements : 1));
    out.group = GroupOf(c);
    return out;
  }
  // Bytes of a row, all agents included.
  uint64_t RowBytes(size_t index) const {
    const bp_channel& c = channel(index);
    uint64_t bytes = c.dtype.bits / 8 * PerRow(index);
    for (uint16_t i = 0; i < c.ndim; ++i) bytes *= static_cast<uint64_t>(c.shape[i]);
    return bytes;
  }

  // The rows of a channel in the slot of a call. T has the size of its numbers, or is char for bytes.
  template <class T>
  RowsOf<T> Rows(size_t index, const Slot& slot) const {
    const bp_frame* frames = nullptr;
    uint64_t n = 0;
    if (const bp_status status = table_->bind(host_, &frames, &n); status != BP_OK) throw Error(status, "is not bound");
    const auto* at = reinterpret_cast<const char*>(frames) + slot.index() * frames->struct_size;
    const bp_tensor* tensor = reinterpret_cast<const bp_frame*>(at)->tensors[index];
    if (!tensor) throw Error(BP_E_INTERNAL, std::string("channel '") + channel(index).name + "' has no buffer in this slot");
    const uint64_t bytes = static_cast<uint64_t>(tensor->strides[0]) * PerRow(index) * tensor->dtype.bits / 8;
    return {static_cast<char*>(tensor->data) + tensor->byte_offset, bytes, RowBytes(index) / sizeof(T)};
  }
  void Reset(const Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) const {
    Check(table_->reset(host_, slot.index(), begin, end, mask, seeds));
  }
  void Step(const Slot& slot, uint64_t begin, uint64_t end) const { Check(table_->step(host_, slot.index(), begin, end)); }

 private:
  static void Check(bp_status status) {
    if (status != BP_OK) throw Error(status, "the env below failed");
  }

  const bp_host* host_;
  const bp_host_env_1* table_;
};

// A channel of the wrapper's own spec with numbers of any type, whose rows are bytes.
class AnyChannel {
 public:
  AnyChannel() = default;  // assign it before use
  AnyChannel(const EnvSpec& spec, const std::string& name) {
    const Channel* const channel = spec.Find(name);
    if (!channel) throw Error(BP_E_INTERNAL, "the spec has no channel '" + name + "'");
    const bool found = Use<float>(spec, *channel) || Use<uint8_t>(spec, *channel) || Use<int32_t>(spec, *channel) ||
                       Use<double>(spec, *channel) || Use<int64_t>(spec, *channel);
    if (!found) throw Unsupported("channel '" + name + "' has numbers of type " + DtypeText(channel->dtype));
  }
  RowsOf<char> Rows(const Slot& slot) const {
    return std::visit(
        [&](const auto& handle) {
          const auto rows = slot.Rows(handle);
          auto* const first = const_cast<char*>(reinterpret_cast<const char*>(rows[0].data()));
          return RowsOf<char>(first, reinterpret_cast<const char*>(rows[1].data()) - first, rows[0].size_bytes());
        },
        handle_);
  }

 private:
  template <class T>
  bool Use(const EnvSpec& spec, const Channel& channel) {
    if (!SameDtype(channel.dtype, DtypeOf<T>())) return false;
    if (channel.role == BP_ROLE_ACTION)
      handle_ = spec.Get<const T>(channel.name);
    else
      handle_ = spec.Get<T>(channel.name);
    return true;
  }

  std::variant<Handle<float>, Handle<const float>, Handle<uint8_t>, Handle<const uint8_t>, Handle<int32_t>,
               Handle<const int32_t>, Handle<double>, Handle<const double>, Handle<int64_t>, Handle<const int64_t>>
      handle_;
};

// Base of a wrapper without memory: it can be saved and resumed.
struct NoMemory {
  uint64_t StateBytes() const { return 0; }
  void Save(uint64_t, void*) const {}
  void Load(uint64_t, const void*) {}
};

// The plugin for a wrapper class. A class with `bool Hides(std::string_view channel) const` hides channels of the env below.
template <class W>
struct Wrapper : EnvBatch<W> {
  static_assert((W::kAbout.flags & BP_FLAG_WRAPPER) != 0, "the kAbout of a wrapper has the flag BP_FLAG_WRAPPER");
  static const void* Api() {
    static const bp_env_api api = [] {
      bp_env_api table = Batch();
      table.get_extension = GetExtension;
      return table;
    }();
    return &api;
  }

 private:
  static const bp_env_api& Batch() { return *static_cast<const bp_env_api*>(EnvBatch<W>::Api()); }
  static const void* GetExtension(const bp_env* env, const char* id) {
    if constexpr (requires(const W& w) { bool{w.Hides(std::string_view())}; }) {
      static constexpr bp_env_wrapper_1 wrapper = {
          sizeof(bp_env_wrapper_1), 0, [](const bp_env* of, const char* channel) {
            return int32_t{reinterpret_cast<const detail::EnvInstance<W>*>(of)->batch().Hides(channel)};
          }};
      if (std::string_view(id) == BP_ENV_WRAPPER_1) return &wrapper;
    }
    return Batch().get_extension(env, id);
  }
};

}  // namespace bp
