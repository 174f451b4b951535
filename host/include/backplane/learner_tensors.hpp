// Lists the weights of a learner, tensor by tensor (ext/tensors.h). Part of learner.hpp, which authors include.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/ext/tensors.h"

namespace bp {

// A list that a learner fills: `data` is not copied and stays valid until the learner's next call.
class NamedTensors {
 public:
  template <class T>
  void Add(std::string name, const T* data, std::vector<int64_t> shape) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "expected numbers in a tensor of a learner");
    Item& item = items_.emplace_back(Item{std::move(name), std::move(shape), {}, {}, {}});
    item.strides.resize(item.shape.size());
    int64_t stride = 1;
    for (size_t i = item.shape.size(); i-- > 0; stride *= item.shape[i]) item.strides[i] = stride;
    constexpr uint8_t kCode = std::is_floating_point_v<T> ? BP_DTYPE_FLOAT : std::is_signed_v<T> ? BP_DTYPE_INT : BP_DTYPE_UINT;
    item.tensor.data = const_cast<T*>(data);
    item.tensor.device = {BP_DEVICE_CPU, 0};
    item.tensor.ndim = static_cast<int32_t>(item.shape.size());
    item.tensor.dtype = {kCode, 8 * sizeof(T), 1};
    item.tensor.shape = item.shape.data();
    item.tensor.strides = item.strides.data();
  }
  template <class T>
  void Add(std::string name, const std::vector<T>& values) {
    Add(std::move(name), values.data(), {static_cast<int64_t>(values.size())});
  }
  // Adds one number, which is copied.
  template <class T>
  void AddNumber(std::string name, T value) {
    static_assert(sizeof value <= sizeof(uint64_t));
    Add<T>(std::move(name), nullptr, {});
    Item& item = items_.back();
    std::memcpy(&item.number, &value, sizeof value);
    item.tensor.data = &item.number;
  }

  void Clear() { items_.clear(); }
  // Valid until the next call of any member.
  void Fill(bp_named_tensors* out) {
    names_.clear(), tensors_.clear();
    for (Item& item : items_) names_.push_back(item.name.c_str()), tensors_.push_back(&item.tensor);
    bp_named_tensors now{sizeof now, 0, items_.size(), names_.data(), tensors_.data()};
    now.struct_size = std::min<uint32_t>(out->struct_size, sizeof now);
    std::memcpy(out, &now, now.struct_size);
  }

 private:
  struct Item {
    std::string name;
    std::vector<int64_t> shape, strides;
    bp_tensor tensor;
    uint64_t number;
  };
  std::deque<Item> items_;  // stable addresses
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
};

}  // namespace bp
