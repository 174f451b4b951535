#include "noise.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "backplane/rng.h"
#include "nn/row_gradients.hpp"

namespace backplane::seq2seq {

void Noise::Stream::DropRow(float* values, int64_t n, double p, Site site, int64_t text, int64_t row) const {
  if (!Drops(p)) return;
  const uint64_t of_text = bp_seed(*seed_, BP_PURPOSE_LEARNER, static_cast<uint32_t>(site), static_cast<uint64_t>(text));
  nn::DropFrom(bp_seed(of_text, BP_PURPOSE_LEARNER, 0, static_cast<uint64_t>(row)), p, n, values);
}

at::Tensor Noise::Stream::Drop(const at::Tensor& x, double p, Site site) const {
  if (!Drops(p)) return x;
  // Booleans: the backward pass keeps a byte and not four for each element. Drawn on the CPU: the same on every device.
  const at::Tensor kept = at::empty(x.sizes(), at::TensorOptions(at::kCPU).dtype(at::kBool));
  const int64_t n = x.size(-1), texts = x.size(0), positions = x.dim() > 2 ? x.size(-2) : 1;
  const int64_t heads = x.numel() / std::max<int64_t>(1, n * texts * positions);
  bool* to = kept.data_ptr<bool>();
  std::vector<float> row(static_cast<size_t>(n));
  for (int64_t text = 0; text < texts; ++text) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t position = 0; position < positions; ++position, to += n) {
        std::fill(row.begin(), row.end(), 1.0f);
        DropRow(row.data(), n, p, site, text, RowOf(head, position));
        std::transform(row.begin(), row.end(), to, [](float value) { return value != 0; });
      }
    }
  }
  return x.mul(kept.to(x.device())).mul_(1 / (1 - p));
}

Noise::Stream Noise::Of(uint64_t layer) const {
  return seed_ ? Stream(bp_seed(*seed_, BP_PURPOSE_LEARNER, 2, layer)) : Stream();
}

}  // namespace backplane::seq2seq
