// A micro-batch of training on a CPU in float32: the network of bart.hpp and its gradients without LibTorch's operations. Texts
// lie one behind the other, nothing is padded, and what stands between two products is one pass over their rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bart.hpp"
#include "packed_texts.hpp"
#include "text_attention.hpp"

namespace backplane::seq2seq {

// All that grows with the number of texts is in tensors, which count as the device's memory; the shares of one head of one text
// do not.
class Training {
 public:
  // `weights` are packed, have gradients, and outlive this. Of `pass`: noise and recompute.
  Training(const BartConfig& config, const Weights& weights, const Pass& pass, double smoothing);

  // Summed cross-entropy of the sources' labels / divisor. A label may be empty. Throws bp::Error
  // (BP_E_INVALID_ARG) where a source is empty, or a token or a position is none of the network's.
  double Forward(const std::vector<std::span<const int32_t>>& sources, const std::vector<std::span<const int32_t>>& labels,
                 double divisor);
  // Adds the gradient of what Forward returned to the weights'. Once.
  void Backward();

 private:
  // A sum's norm, before weight and bias (`hat`, and by how much it was stretched) and behind them.
  struct Normed {
    at::Tensor hat, scales, out;
  };
  // What a layer's gradient needs: [rows, width] each.
  struct LayerState {
    at::Tensor in;
    at::Tensor kvq, self_mixed;
    Normed self;
    at::Tensor q, kv, cross_mixed;  // of decoders
    Normed cross;
    at::Tensor slope, wide;  // of the feed-forward part: the derivative of its GELU, and what came out of it
    Normed ffn;
    // What fc1 reads.
    const at::Tensor& mid() const { return cross.out.defined() ? cross.out : self.out; }
  };
  struct Side {
    const Stack& stack;
    uint64_t first_noise;  // of the embedding; that of layer i is i + 1 after it
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
  // From the derivative at what the layer put out, which is overwritten, to that at what it took.
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
