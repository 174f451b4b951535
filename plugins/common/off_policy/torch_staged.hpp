// Arrays of the host that are copied to a device together: gathered in one buffer, which is pinned for a GPU, then in one copy.
#pragma once

#include <ATen/ATen.h>

#include <cstring>
#include <vector>

namespace backplane::off_policy {

class Staged {
 public:
  explicit Staged(at::Device device) : device_(device) {}

  void Begin() { pieces_.clear(), size_ = 0; }
  // Returns the piece's number. `data` must live until Copy; NULL: the piece is undefined.
  size_t Add(const float* data, int64_t n) {
    pieces_.push_back({data, n, size_});
    if (data) size_ += (n + kAligned - 1) / kAligned * kAligned;
    return pieces_.size() - 1;
  }
  // The last copy must have arrived.
  void Copy() {
    if (!host_.defined() || host_.numel() < size_)
      host_ = at::empty({size_}, at::TensorOptions(at::kFloat).pinned_memory(device_.is_cuda()));
    for (const Piece& each : pieces_)
      if (each.data) std::memcpy(host_.data_ptr<float>() + each.at, each.data, static_cast<size_t>(each.n) * sizeof(float));
    there_ = host_.narrow(0, 0, size_).to(device_, /*non_blocking=*/true);
  }
  // On the device.
  at::Tensor Get(size_t piece, at::IntArrayRef shape) const {
    const Piece& it = pieces_[piece];
    return it.data ? there_.narrow(0, it.at, it.n).view(shape) : at::Tensor();
  }
  at::Tensor Get(size_t piece) const { return Get(piece, {pieces_[piece].n}); }

 private:
  static constexpr int64_t kAligned = 16;  // floats
  struct Piece {
    const float* data;
    int64_t n, at;
  };
  at::Device device_;
  std::vector<Piece> pieces_;
  int64_t size_ = 0;
  at::Tensor host_, there_;
};

}  // namespace backplane::off_policy
