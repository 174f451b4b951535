// Observations of a tensor as float32, stored as float32 or uint8 (images).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

class Observations {
 public:
  Observations(const bp_tensor* tensor, const char* name) {
    if (tensor == nullptr) throw bp::Error(BP_E_INVALID_ARG, std::string("the delivery has no tensor '") + name + "'");
    if (bp::SameDtype(tensor->dtype, bp::DtypeOf<uint8_t>()))
      bytes_ = bp::View<const uint8_t>(tensor, name);
    else
      floats_ = bp::View<const float>(tensor, name);
  }
  // The n numbers at an index, valid until the thread's next call.
  template <class... Index>
  const float* At(int64_t n, Index... index) const {
    if (!bytes_) return floats_.At(index...);
    static thread_local std::vector<float> converted;
    converted.resize(static_cast<size_t>(n));
    std::copy_n(bytes_.At(index...), n, converted.data());
    return converted.data();
  }

 private:
  bp::View<const float> floats_;
  bp::View<const uint8_t> bytes_;  // one of both
};

}  // namespace backplane::rl
