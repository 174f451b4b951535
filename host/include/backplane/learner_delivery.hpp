// The host's tensors of one `act`, and the deliveries of a request. Part of learner.hpp, which authors include.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "backplane/learner_spec.hpp"

namespace bp {

// A tensor of the host, its dtype checked once; rows are contiguous, leading dimensions have strides.
template <class T>
class View {
 public:
  View() = default;
  View(const bp_tensor* tensor, const char* name) : tensor_(tensor) {
    using Value = std::remove_const_t<T>;
    if (!SameDtype(tensor->dtype, DtypeOf<Value>())) {
      throw Error(BP_E_INVALID_ARG, std::string("tensor '") + name + "' has type " + DtypeText(tensor->dtype) +
                                        ", but is read as " + DtypeText(DtypeOf<Value>()));
    }
  }
  int64_t Size(int dim) const { return tensor_->shape[dim]; }
  T* At(int64_t i) const { return static_cast<T*>(tensor_->data) + i * tensor_->strides[0]; }
  T* At(int64_t t, int64_t row) const { return At(t) + row * tensor_->strides[1]; }
  explicit operator bool() const { return tensor_ != nullptr; }

 private:
  const bp_tensor* tensor_ = nullptr;
};

// The tensors of a request's delivery, by name.
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
    if (!tensor) throw Error(BP_E_INVALID_ARG, std::string("the delivery has no tensor '") + name + "'");
    return {tensor, name};
  }

 private:
  const bp_delivery* raw_;
};

}  // namespace bp
