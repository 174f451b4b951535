// A training micro-batch on a CPU in float32: the network of bart.hpp and its gradients without LibTorch's operations. Texts
// are concatenated without padding, and operations between products are fused into one pass over the rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bart.hpp"
#include "packed_texts.hpp"
#include "text_attention.hpp"

namespace backplane::seq2seq {

// Everything that grows with the number of texts is in tensors, which count as the device's memory; the shares of one head of
// one text are not.
class Training {
 public:
  // `weights` are packed, have gradients, and outlive this. Of `pass`: noise and recompute.
  Training(const BartConfig& config, const Weights& weights, const Pass& pass, double smoothing);

  // Summed cross-entropy of the sources' labels / divisor. A label may be empty. Throws bp::Error (BP_E_INVALID_ARG) if a
  // source is empty, or if a token or a position is outside the network.
  double Forward(const std::vector<std::span<const int32_t>>& sources, const std::vector<std::span<const int32_t>>& labels,
                 double divisor);
  // Adds the gradient of Forward's result to the weights' gradients. Call it once.
  void Backward();

 private:
  // The norm of a sum, before weight and bias (`hat` and its scales) and after them.
  struct Normed {
    at::Tensor hat, scales, out;
  };
  // A layer's values that its gradient needs: [rows, width] each.
  struct LayerState {
    at::Tensor in;
    at::Tensor kvq, self_mixed;
    Normed self;
    at::Tensor q, kv, cross_mixed;  // decoders only
    Normed cross;
    at::Tensor slope, wide;  // feed-forward part: the derivative of its GELU, and the GELU's output
    Normed ffn;
    // The input of fc1.
    const at::Tensor& mid() const { return cross.out.defined() ? cross.out : self.out; }
  };
  struct Side {
    const Stack& stack;
    uint64_t first_noise;  // of the embedding; layer i has first_noise + 1 + i
    bool decodes;
    PackedTexts texts = {};
    Normed embedded = {};
    std::vector<LayerState> layers = {};
  };

  at::Tensor Run(Side* side) const;
  void RunBackward(Side* side, at::Tensor d) const;
  void Embed(Side* side) const;
  void EmbedBackward(const Side& side, const at::Tensor& d) const;
  LayerState RunLayer(const Side& side, size_t i, at::Tensor in) const;
  // From the derivative at the layer's output, which is overwritten, to the derivative at its input.
  at::Tensor RunLayerBackward(const Side& side, size_t i, const LayerState& s, at::Tensor d) const;
  Normed AddNorm(const Affine& norm, const at::Tensor& x, at::Tensor y) const;
  Noise::Stream NoiseOf(const Side& side, size_t layer) const { return pass_.noise.Of(side.first_noise + 1 + layer); }
  TextAttention ToItself(const Side& side, size_t layer) const;
  TextAttention ToMemory(size_t layer) const;
  double TakeLoss(double divisor);

  const BartConfig& config_;
  const Weights& weights_;
  const Pass pass_;
  const double smoothing_;
  const double embedding_scale_;
  Side encoder_, decoder_;
  std::vector<int32_t> labels_;
  at::Tensor memory_, d_memory_;  // [rows of sources, d_model]
  at::Tensor hidden_, d_scores_;  // [labels, d_model], [labels, vocab_size]
};

}  // namespace backplane::seq2seq
