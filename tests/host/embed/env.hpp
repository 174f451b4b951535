// An open env for tests that uses only backplane/embed.h.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backplane/embed.h"

namespace backplane::embed_test {

// The memory of a channel: element i of row r.
template <class T>
struct View {
  T* data;
  int64_t stride;
  T& operator()(uint64_t row, uint64_t i = 0) const {
    return data[static_cast<int64_t>(row) * stride + static_cast<int64_t>(i)];
  }
};

class Env {
 public:
  explicit Env(const char* id, uint64_t rows = 1, const char* options = nullptr, uint64_t seed = 1, uint32_t threads = 1,
               const char* so = nullptr) {
    EXPECT_EQ(bp_embed_open(so, id, options, rows, seed, threads, &handle), BP_OK) << bp_embed_error();
  }
  ~Env() {
    if (handle) bp_embed_close(handle);
  }
  Env(const Env&) = delete;

  void Reset(const uint8_t* mask = nullptr, const uint64_t* seeds = nullptr) const {
    ASSERT_EQ(bp_embed_reset(handle, mask, seeds), BP_OK) << bp_embed_error();
  }
  void Step() const { ASSERT_EQ(bp_embed_step(handle), BP_OK) << bp_embed_error(); }
  bp_view Tensor(const std::string& channel) const {
    bp_view view{};
    EXPECT_EQ(bp_embed_tensor(handle, channel.c_str(), &view), BP_OK) << bp_embed_error();
    return view;
  }
  template <class T>
  View<T> Of(const std::string& channel) const {
    const bp_view view = Tensor(channel);
    EXPECT_EQ(view.bits, 8 * sizeof(T)) << channel;
    return {static_cast<T*>(view.data), view.ndim > 0 ? view.strides[0] : 0};
  }
  // The bytes of a channel.
  std::string Bytes(const std::string& channel) const {
    const bp_view view = Tensor(channel);
    int64_t n = view.bits / 8;
    for (int32_t i = 0; i < view.ndim; ++i) n *= view.shape[i];
    return {static_cast<const char*>(view.data), static_cast<size_t>(n)};
  }
  nlohmann::json Spec() const { return nlohmann::json::parse(bp_embed_spec(handle)); }
  void SetState(uint64_t row, const char* name, const std::vector<double>& numbers) const {
    const double* values = numbers.data();
    const uint64_t size = numbers.size();
    ASSERT_EQ(bp_embed_set_state(handle, row, 1, &name, &values, &size), BP_OK) << bp_embed_error();
  }

  bp_embed* handle = nullptr;
};

}  // namespace backplane::embed_test
