// A small host that drives a plugin through its function table: options from the plugin's defaults, one set of rollout buffers,
// byte streams and files in memory. The module is linked into the test.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backplane/ext/gpus.h"
#include "backplane/ext/state.h"
#include "backplane/learner.hpp"
#include "heap_files.hpp"

namespace backplane::test_support {

class FakeHost {
 public:
  // `overrides`: option -> YAML text.
  FakeHost(const bp_descriptor& descriptor, std::map<std::string, std::string> overrides) : options_(std::move(overrides)) {
    for (const auto& [path, text] : options_) set_.insert(path);
    for (uint64_t i = 0; i < descriptor.n_params; ++i)
      options_.try_emplace(descriptor.params[i].path, descriptor.params[i].def);
    config.impl = host.impl = this;
    host.get_extension = [](const bp_host* h, const char* id) -> const void* {
      static constexpr bp_host_part_1 kPart{sizeof(bp_host_part_1), 0, LinkedPart};
      static constexpr bp_host_metrics_1 kMetrics{sizeof(bp_host_metrics_1), 0, AddMetric, RecordMetric};
      if (std::strcmp(id, BP_HOST_GPUS_1) == 0) return &static_cast<FakeHost*>(h->impl)->gpus;
      if (std::strcmp(id, BP_HOST_METRICS_1) == 0) return &kMetrics;
      if (std::strcmp(id, BP_HOST_FILE_1) == 0) return HeapFiles::Api(&static_cast<FakeHost*>(h->impl)->files);
      return std::strcmp(id, BP_HOST_PART_1) == 0 ? &kPart : nullptr;
    };
    host.log = [](const bp_host* h, int32_t, const char* text) { static_cast<FakeHost*>(h->impl)->logged += text; };
    host.fail = [](const bp_host* h, bp_status code, const char* text) {
      static_cast<FakeHost*>(h->impl)->error = text;
      return code;
    };
    host.cancelled = [](const bp_host*) { return 0; };
    config.f64 = [](const bp_config* c, const char* path, double* out) {
      char* end = nullptr;
      *out = std::strtod(Text(c, path), &end);
      return bp_status{*end ? BP_E_INVALID_ARG : BP_OK};
    };
    config.i64 = [](const bp_config* c, const char* path, int64_t* out) {
      const std::string text = Text(c, path);
      char* end = nullptr;
      *out = std::strtoll(text.c_str(), &end, 10);
      if (text == "true" || text == "false") return *out = text == "true", bp_status{BP_OK};
      return bp_status{*end ? BP_E_INVALID_ARG : BP_OK};
    };
    config.str = [](const bp_config* c, const char* path, const char** out) {
      *out = std::strcmp(Text(c, path), "''") == 0 ? "" : Text(c, path);
      return bp_status{BP_OK};
    };
    config.list = List;
    config.where = [](const bp_config* c, const char* path) {
      return static_cast<FakeHost*>(c->impl)->set_.contains(path) ? "test.yaml:1:1" : "default";
    };
  }
  FakeHost(const FakeHost&) = delete;

  bp_host host{sizeof(bp_host)};
  bp_config config{sizeof(bp_config)};
  bp_host_gpus_1 gpus{sizeof(bp_host_gpus_1), 0, [](const bp_host* h) { ++static_cast<FakeHost*>(h->impl)->gpu_uses; }};
  int gpu_uses = 0;
  std::string error, logged;
  HeapFiles files;
  std::map<std::string, std::vector<double>> metrics;  // by name, as recorded

 private:
  static int32_t AddMetric(const bp_host* h, const char* name, const char*, int32_t, const char*) {
    auto& names = static_cast<FakeHost*>(h->impl)->names_;
    names.push_back(name);
    return static_cast<int32_t>(names.size()) - 1;
  }
  static void RecordMetric(const bp_host* h, int32_t handle, double value) {
    auto* self = static_cast<FakeHost*>(h->impl);
    self->metrics[self->names_[static_cast<size_t>(handle)]].push_back(value);
  }
  static const char* Text(const bp_config* c, const char* path) {
    return static_cast<FakeHost*>(c->impl)->options_.at(path).c_str();
  }
  static const void* LinkedPart(const bp_host*, const char* name, const char** why_not) {
    const bp_module& module = *bp_module_v1();
    for (uint32_t i = 0; i < module.count(); ++i) {
      const bp_descriptor& plugin = *module.descriptor(i);
      if (plugin.kind == BP_KIND_PART && std::string(plugin.id).ends_with(std::string("_") + name))
        return module.api(plugin.id);
    }
    *why_not = "the test has no such part";
    return nullptr;
  }
  static bp_status List(const bp_config* c, const char* path, uint64_t cap, double* out, uint64_t* out_n) {
    const char* at = Text(c, path);
    for (*out_n = 0; (at = std::strpbrk(at, "-.0123456789")); ++*out_n) {
      char* end;
      const double value = std::strtod(at, &end);
      if (*out_n < cap) out[*out_n] = value;
      at = end;
    }
    return BP_OK;
  }
  std::map<std::string, std::string> options_;
  std::set<std::string> set_;       // by the test
  std::vector<std::string> names_;  // of metrics
};

// A tensor with its memory: [d0, d1, ...], contiguous.
template <class T>
struct Buffer {
  explicit Buffer(std::vector<int64_t> dims) : shape(std::move(dims)), strides(shape.size(), 1) {
    int64_t n = 1;
    for (size_t i = shape.size(); i-- > 0; n *= shape[i]) strides[i] = n;
    data.resize(static_cast<size_t>(n));
    tensor = {
        data.data(), {BP_DEVICE_CPU, 0}, static_cast<int32_t>(shape.size()), bp::DtypeOf<T>(), shape.data(), strides.data(), 0};
  }
  Buffer(const Buffer&) = delete;
  // The same memory from entry t of the first dimension on, without that dimension.
  bp_tensor Entry(int64_t t) {
    bp_tensor e = tensor;
    e.data = data.data() + t * strides[0];
    --e.ndim, ++e.shape, ++e.strides;
    return e;
  }
  std::vector<int64_t> shape, strides;
  std::vector<T> data;
  bp_tensor tensor;
};

// The bytes of save(object, writer), and load(object, reader) from bytes.
template <class Save, class Object>
std::string SaveWith(Save save, Object* object) {
  std::string bytes;
  const bp_writer writer{sizeof(bp_writer), 0, &bytes, [](const bp_writer* w, const void* data, uint64_t n) {
                           static_cast<std::string*>(w->impl)->append(static_cast<const char*>(data), n);
                           return bp_status{BP_OK};
                         }};
  save(object, &writer);
  return bytes;
}

template <class Load, class Object>
bp_status LoadWith(Load load, Object* object, std::string bytes) {
  const bp_reader reader{sizeof(bp_reader), 0, &bytes, [](const bp_reader* r, void* out, uint64_t n) {
                           auto* left = static_cast<std::string*>(r->impl);
                           if (left->size() < n) return bp_status{BP_E_IO};
                           std::memcpy(out, left->data(), n);
                           left->erase(0, n);
                           return bp_status{BP_OK};
                         }};
  return load(object, &reader);
}

inline std::string SaveState(const bp_learner_api* api, bp_learner* learner) {
  return SaveWith(static_cast<const bp_learner_state_1*>(api->get_extension(learner, BP_LEARNER_STATE_1))->save, learner);
}

inline bp_status LoadState(const bp_learner_api* api, bp_learner* learner, std::string bytes) {
  const auto* state = static_cast<const bp_learner_state_1*>(api->get_extension(learner, BP_LEARNER_STATE_1));
  return LoadWith(state->load, learner, std::move(bytes));
}

}  // namespace backplane::test_support
