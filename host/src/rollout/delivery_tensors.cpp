#include "rollout/delivery_tensors.hpp"

namespace backplane {

void DeliveryTensors::Clear() {
  names_.clear();
  tensors_.clear();
}

void DeliveryTensors::Give(const char* name, bp_tensor* tensor) {
  names_.push_back(name);
  tensors_.push_back(tensor);
}

void DeliveryTensors::GiveMoments(Moments& moments) {
  const bp_dtype f64{BP_DTYPE_FLOAT, 64, 1};
  const auto n = static_cast<int64_t>(moments.mean.size());
  count_.Set(&moments.count, f64, {1}, 1);
  mean_.Set(moments.mean.data(), f64, {n}, 1);
  m2_.Set(moments.m2.data(), f64, {n}, 1);
  Give("obs_count", &count_.view);
  Give("obs_mean", &mean_.view);
  Give("obs_m2", &m2_.view);
}

bp_delivery DeliveryTensors::Make(uint32_t kind) const {
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = kind;
  delivery.count = 1;
  delivery.n_tensors = names_.size();
  delivery.names = names_.data();
  delivery.tensors = tensors_.data();
  return delivery;
}

}  // namespace backplane
