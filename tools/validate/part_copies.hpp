// Copies of a rollout's parts, each in memory of its own that is overwritten after the part's `consume`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <vector>

#include "backplane/learner.h"

namespace backplane {

class PartCopies {
 public:
  // Valid until the next call. Copies of earlier parts stay allocated, so that reading one is no crash but a NaN.
  const bp_delivery& Add(const bp_delivery& part) {
    tensors_.clear(), pointers_.clear();
    for (uint64_t i = 0; i < part.n_tensors; ++i) {
      tensors_.push_back(*part.tensors[i]);
      tensors_.back().data = Copy(tensors_.back());
    }
    for (bp_tensor& tensor : tensors_) pointers_.push_back(&tensor);
    delivery_ = part;
    delivery_.tensors = pointers_.data();
    return delivery_;
  }
  void Spoil() {
    for (std::vector<std::byte>& block : blocks_) std::ranges::fill(block, std::byte{0xff});
  }

 private:
  // Keeps the stride of dimension 0; the others are dense.
  void* Copy(const bp_tensor& tensor) {
    uint64_t inner = tensor.dtype.bits / 8;
    for (int d = 1; d < tensor.ndim; ++d) inner *= static_cast<uint64_t>(tensor.shape[d]);
    const uint64_t entries = tensor.ndim > 0 ? static_cast<uint64_t>(tensor.shape[0]) : 1;
    const uint64_t stride = tensor.ndim > 0 ? static_cast<uint64_t>(tensor.strides[0]) * (tensor.dtype.bits / 8) : 0;
    std::vector<std::byte>& block =
        blocks_.emplace_back(std::max<uint64_t>(entries > 0 ? (entries - 1) * stride + inner : 0, 1));
    for (uint64_t e = 0; e < entries; ++e)
      std::memcpy(block.data() + e * stride, static_cast<const std::byte*>(tensor.data) + e * stride, inner);
    return block.data();
  }

  std::deque<std::vector<std::byte>> blocks_;
  std::deque<bp_tensor> tensors_;
  std::vector<bp_tensor*> pointers_;
  bp_delivery delivery_{};
};

}  // namespace backplane
