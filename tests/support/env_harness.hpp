// A small host for one env plugin: loads the file, passes options as JSON, owns its buffers, resets and steps it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/ext/memory.h"
#include "backplane/ext/snapshot.h"
#include "backplane/rng.h"

namespace harness {

// A bp_host that keeps the last message of `fail`, the warnings, and other log lines.
class FakeHost {
 public:
  FakeHost() {
    host_ = {sizeof host_,
             BP_ABI_MINOR,
             this,
             [](const bp_host*, const char*) -> const void* { return nullptr; },
             [](const bp_host* h, int32_t severity, const char* text) {
               FakeHost& host = *static_cast<FakeHost*>(h->impl);
               (severity == BP_LOG_WARN ? host.warnings : host.notes).push_back(text);
             },
             [](const bp_host* h, bp_status code, const char* text) {
               static_cast<FakeHost*>(h->impl)->error = text;
               return code;
             },
             [](const bp_host*) { return 0; }};
  }
  FakeHost(const FakeHost&) = delete;
  const bp_host* get() const { return &host_; }
  std::string error;
  std::vector<std::string> warnings, notes;

 private:
  bp_host host_;
};

// A number, or a word that an option accepts instead, such as "auto".
template <class Number>
nlohmann::json NumberOrWord(const YAML::Node& node) {
  Number number;
  if (YAML::convert<Number>::decode(node, number)) return number;
  return node.as<std::string>();
}

// Defaults of the options by path.
inline nlohmann::json Defaults(const bp_descriptor& d) {
  const auto parse = [](const bp_param& p) -> nlohmann::json {
    const YAML::Node node = YAML::Load(p.def);
    switch (p.type) {
      case BP_PARAM_F64: return NumberOrWord<double>(node);
      case BP_PARAM_I64: return NumberOrWord<int64_t>(node);
      case BP_PARAM_BOOL: return node.as<bool>();
      case BP_PARAM_F64_LIST:
      case BP_PARAM_I64_LIST: return node.as<std::vector<double>>();
      case BP_PARAM_ANY: return nlohmann::json::parse(p.def);
      default: return node.as<std::string>();
    }
  };
  nlohmann::json defaults = nlohmann::json::object();
  for (uint64_t i = 0; i < d.n_params; ++i)
    if (d.params[i].def) defaults[d.params[i].path] = parse(d.params[i]);
  return defaults;
}

// A bp_config with the table's defaults and some options replaced. Unknown options fail the test.
class FakeConfig {
 public:
  FakeConfig(const bp_descriptor& d, const nlohmann::json& given) : values_(Defaults(d)) {
    for (const auto& [key, value] : given.items()) {
      const auto is_key = [&key = key](const bp_param& p) { return p.path == key; };
      EXPECT_TRUE(std::any_of(d.params, d.params + d.n_params, is_key)) << key;
      values_[key] = value;
    }
    text_ = values_.dump();
    for (const nlohmann::json& value : values_)
      if (value.is_structured()) structures_[&value] = value.dump();
    config_ = {sizeof config_,
               0,
               this,
               F64,
               I64,
               Str,
               List,
               [](const bp_config* c) { return Of(c).text_.c_str(); },
               [](const bp_config* c, const char* path) {
                 return Of(c).where_.try_emplace(path, "test.yaml:" + std::string(path)).first->second.c_str();
               }};
  }
  FakeConfig(const FakeConfig&) = delete;
  const bp_config* get() const { return &config_; }

 private:
  static FakeConfig& Of(const bp_config* c) { return *static_cast<FakeConfig*>(c->impl); }
  static const nlohmann::json* Find(const bp_config* c, const char* path) {
    const auto found = Of(c).values_.find(path);
    return found == Of(c).values_.end() ? nullptr : &*found;
  }
  static bp_status F64(const bp_config* c, const char* path, double* out) {
    const auto* v = Find(c, path);
    if (!v || !v->is_number()) return BP_E_INVALID_ARG;
    return *out = v->get<double>(), BP_OK;
  }
  static bp_status I64(const bp_config* c, const char* path, int64_t* out) {
    const auto* v = Find(c, path);
    if (!v || !(v->is_number_integer() || v->is_boolean())) return BP_E_INVALID_ARG;
    return *out = v->is_boolean() ? v->get<bool>() : v->get<int64_t>(), BP_OK;
  }
  static bp_status Str(const bp_config* c, const char* path, const char** out) {
    const auto* v = Find(c, path);
    if (!v) return BP_E_INVALID_ARG;
    if (v->is_structured()) return *out = Of(c).structures_.at(v).c_str(), BP_OK;
    if (!v->is_string()) return BP_E_INVALID_ARG;
    return *out = v->get_ref<const std::string&>().c_str(), BP_OK;
  }
  static bp_status List(const bp_config* c, const char* path, uint64_t cap, double* out, uint64_t* out_n) {
    const auto* v = Find(c, path);
    if (!v || !v->is_array()) return BP_E_INVALID_ARG;
    *out_n = v->size();
    for (uint64_t i = 0; i < std::min<uint64_t>(cap, *out_n); ++i) out[i] = (*v)[i];
    return BP_OK;
  }

  nlohmann::json values_;
  std::map<const nlohmann::json*, std::string> structures_;  // JSON texts of mappings and lists
  std::string text_;
  std::map<std::string, std::string> where_;
  bp_config config_;
};

// The module of a plugin file, sealed or not. Never unloaded, as in the host.
inline const bp_module* Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<const bp_module* (*)()>(dlsym(library, "bp_module_v1"))();
}

// An instance with its buffers: `slots` = 1, or T + 1 for a rollout of T steps. Tests read and write copies of a device env's
// buffers, which are copied to the device before each call and back after it.
class Env {
 public:
  Env(const std::string& path, uint64_t rows, uint64_t slots = 1, const nlohmann::json& options = nlohmann::json::object())
      : Env(Load(path), rows, slots, options) {}
  Env(const bp_module* module, uint64_t rows, uint64_t slots = 1, const nlohmann::json& options = nlohmann::json::object())
      : rows_(rows), slots_(slots), module_(module), descriptor_(module_->descriptor(0)) {
    api_ = static_cast<const bp_env_api*>(module_->api(descriptor_->id));
    FakeConfig config(*descriptor_, options);
    if (api_->create(host_.get(), config.get(), rows, &env_) != BP_OK) throw std::runtime_error(host_.error);
    Allocate();
    if (api_->bind(env_, frames_.data(), slots) != BP_OK) throw std::runtime_error(host_.error);
  }
  ~Env() {
    for (const Block& block : blocks_) memory_->release(env_, block.device);
    if (env_) api_->destroy(env_);
  }
  Env(const Env&) = delete;

  const bp_env_spec& spec() const { return *api_->spec(env_); }
  const bp_descriptor& descriptor() const { return *descriptor_; }
  const std::string& error() const { return host_.error; }
  const std::vector<std::string>& warnings() const { return host_.warnings; }
  const std::vector<std::string>& notes() const { return host_.notes; }
  bp_env* get() const { return env_; }
  const bp_env_api& api() const { return *api_; }
  const bp_env_snapshot_1* snapshot() const {
    return static_cast<const bp_env_snapshot_1*>(api_->get_extension(env_, BP_ENV_SNAPSHOT_1));
  }
  bp_status Reset(uint32_t slot, const std::vector<uint64_t>& seeds, const uint8_t* mask = nullptr) {
    return OnDevice([&] { return api_->reset(env_, slot, 0, rows_, mask, seeds.data()); });
  }
  bp_status Step(uint32_t slot = 0) {
    return OnDevice([&] { return api_->step(env_, slot, 0, rows_); });
  }

  // A row of a channel in a slot, with all agents; NULL if the slot has no such entry.
  template <class T>
  T* At(const std::string& channel, uint64_t row = 0, uint32_t slot = 0) const {
    char* const data = data_[slot][index_.at(channel)];
    return data ? reinterpret_cast<T*>(data) + row * Size(channel) : nullptr;
  }
  float* Obs(uint64_t row = 0, uint32_t slot = 0) const { return At<float>("obs", row, slot); }
  // Elements of a row, with all agents.
  int64_t Size(const std::string& channel) const { return RowElements(spec().channels[index_.at(channel)]); }
  // The whole contents of a slot, for comparisons bit by bit.
  std::vector<char> Bytes(uint32_t slot = 0) const {
    std::vector<char> all;
    for (uint64_t c = 0; c < spec().n_channels; ++c) {
      const bp_tensor* t = pointers_[slot][c];
      if (!t) continue;
      const uint64_t n = rows_ * RowElements(spec().channels[c]) * t->dtype.bits / 8;
      all.insert(all.end(), data_[slot][c], data_[slot][c] + n);
    }
    return all;
  }

 private:
  struct Block {  // a buffer on the env's device
    char* host;
    void* device;
    uint64_t bytes;
  };
  template <class Call>
  bp_status OnDevice(Call call) {
    for (const Block& b : blocks_) EXPECT_EQ(memory_->to_device(env_, b.device, b.host, b.bytes), BP_OK);
    const bp_status status = call();
    for (const Block& b : blocks_) EXPECT_EQ(memory_->to_host(env_, b.host, b.device, b.bytes), BP_OK);
    return status;
  }

  struct Tensor {
    bp_tensor tensor{};
    std::vector<int64_t> shape, strides;
  };
  static bool IsState(uint16_t role) {
    return role == BP_ROLE_OBS || role == BP_ROLE_STATE || role == BP_ROLE_ACTION_MASK || role == BP_ROLE_ALIVE ||
           role == BP_ROLE_LENGTH;
  }
  static int64_t Elements(const bp_channel& c) {
    int64_t n = 1;
    for (int i = 0; i < c.ndim; ++i) n *= c.shape[i];
    return n;
  }
  int64_t Agents(const bp_channel& c) const { return static_cast<int64_t>(bp::AgentsIn(spec(), c)); }
  int64_t RowElements(const bp_channel& c) const { return Agents(c) * Elements(c); }
  // T entries of a transition channel, T + 1 of a state channel. Slot t points at entries t and t + 1, the last at entry 0.
  void Allocate() {
    const uint64_t steps = slots_ == 1 ? 1 : slots_ - 1;
    pointers_.resize(slots_), data_.resize(slots_);
    if (spec().device.type != BP_DEVICE_CPU)
      memory_ = static_cast<const bp_env_memory_1*>(api_->get_extension(env_, BP_ENV_MEMORY_1));
    for (uint64_t c = 0; c < spec().n_channels; ++c) {
      const bp_channel& channel = spec().channels[c];
      index_[channel.name] = c;
      const uint64_t entry = (rows_ * RowElements(channel) * channel.dtype.bits / 8 + 63) / 64 * 64;
      char* base = static_cast<char*>(std::aligned_alloc(64, entry * (steps + 1)));
      std::memset(base, 0, entry * (steps + 1));
      buffers_.emplace_back(base, std::free);
      char* bound = base;
      if (memory_) {
        void* device = nullptr;
        if (memory_->allocate(env_, entry * (steps + 1), &device) != BP_OK) throw std::runtime_error(host_.error);
        blocks_.push_back({base, device, entry * (steps + 1)});
        bound = static_cast<char*>(device);
      }
      for (uint64_t s = 0; s < slots_; ++s) {
        const bool state = IsState(channel.role), last = slots_ > 1 && s + 1 == slots_;
        const uint64_t at = slots_ == 1 || last ? 0 : state ? s + 1 : s;
        const bool has_entry = !last || state;
        pointers_[s].push_back(has_entry ? MakeTensor(channel, bound + at * entry) : nullptr);
        data_[s].push_back(has_entry ? base + at * entry : nullptr);
      }
    }
    for (uint64_t s = 0; s < slots_; ++s)
      frames_.push_back({sizeof(bp_frame), static_cast<uint32_t>(s), pointers_[s].data(), nullptr});
  }
  bp_tensor* MakeTensor(const bp_channel& channel, char* data) {
    Tensor& t = tensors_.emplace_back();
    t.shape.push_back(static_cast<int64_t>(rows_) * Agents(channel));
    t.shape.insert(t.shape.end(), channel.shape, channel.shape + channel.ndim);
    t.strides.assign(t.shape.size(), 1);
    for (size_t i = t.shape.size() - 1; i > 0; --i) t.strides[i - 1] = t.strides[i] * t.shape[i];
    t.tensor = {data, spec().device, static_cast<int32_t>(t.shape.size()), channel.dtype, t.shape.data(), t.strides.data(), 0};
    return &t.tensor;
  }

  uint64_t rows_, slots_;
  const bp_module* module_;
  const bp_descriptor* descriptor_;
  const bp_env_api* api_;
  FakeHost host_;
  bp_env* env_ = nullptr;
  const bp_env_memory_1* memory_ = nullptr;
  std::vector<Block> blocks_;
  std::map<std::string, uint64_t> index_;
  std::deque<Tensor> tensors_;
  std::vector<std::unique_ptr<char, void (*)(void*)>> buffers_;
  std::vector<std::vector<bp_tensor*>> pointers_;
  std::vector<std::vector<char*>> data_;  // of the same tensors, in the host's memory
  std::vector<bp_frame> frames_;
};

// Starts an episode in row 0 in a given state: `numbers` are the first of the author's struct, which follows key and random
// stream in the snapshot. The observation stays the reset's.
inline void StartAt(Env& env, std::initializer_list<double> numbers) {
  std::vector<char> bytes(env.snapshot()->row_bytes(env.get()));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  ASSERT_EQ(env.snapshot()->get(env.get(), 0, bytes.data()), BP_OK);
  std::memcpy(bytes.data() + sizeof(uint64_t) + sizeof(bp_rng), numbers.begin(), numbers.size() * sizeof(double));
  ASSERT_EQ(env.snapshot()->set(env.get(), 0, bytes.data()), BP_OK);
}

}  // namespace harness
