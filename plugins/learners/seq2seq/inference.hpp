// The network of bart.hpp on a CPU without gradients: in float32, with weights packed for the products in nn/. There is no
// padding, and a text's results have the same bits regardless of other texts in the call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bart_config.hpp"
#include "heads.hpp"
#include "layout.hpp"
#include "nn/matrix.hpp"

namespace backplane::seq2seq {

class Inference {
 public:
  // Packs `weights` [layout.size()], which doubles their memory; they must not change.
  Inference(const BartConfig& config, const Layout& layout, const float* weights);

  int64_t vocabulary() const { return config_.vocab_size; }

  // A text as the decoder's input: keys and values for each layer and head.
  struct Source {
    int64_t length = 0;
    std::vector<Head> heads;  // [decoder_layers * decoder_attention_heads]
  };
  // Encodes non-empty texts of any lengths. Throws bp::Error (BP_E_INVALID_ARG) for tokens or positions outside the network.
  // [any]
  std::vector<Source> Encode(const std::vector<std::span<const int32_t>>& texts) const;

  // Summed cross-entropy of each source's label, in nats; 0 for an empty one. Throws likewise. [any]
  std::vector<double> LabelLosses(const std::vector<const Source*>& sources,
                                  const std::vector<std::span<const int32_t>>& labels) const;

  // Texts that grow in parallel. Their keys and values stay where they were written, and texts that extend a common one share
  // them.
  class Decoding {
   public:
    // One text per entry of `sources`, whose indices ascend: texts of one source are adjacent. `encoded` must outlive this.
    Decoding(const Inference& network, std::span<const Source> encoded, std::vector<int64_t> sources);
    // Appends a token to each text; returns scores [texts, vocab_size], valid until the next call.
    float* Next(const std::vector<int64_t>& tokens);
    // Text i continues the former text from[i].
    void Reorder(const std::vector<int64_t>& from);

   private:
    friend class Inference;
    struct Position {
      std::vector<float> keys, values;  // [layer][number of texts at that time][d_model]
    };
    const Inference& network_;
    std::span<const Source> encoded_;
    std::vector<int64_t> source_of_;          // [texts]
    std::vector<std::vector<int64_t>> past_;  // [texts][previous positions] index among the texts at that time
    std::vector<int64_t> texts_then_;         // [previous positions]
    std::vector<Position> positions_;
    std::vector<float> scores_;
  };

 private:
  struct Affine {
    nn::Packed<float> weight;
    const float* bias = nullptr;
  };
  struct Norm {
    const float *weight = nullptr, *bias = nullptr;
  };
  struct Attention {
    Affine kvq, kv, q, out;  // kvq: of attention to itself; kv, q: to the source
    Norm norm;
  };
  struct Layer {
    Attention self, cross;
    Affine fc1, fc2;
    Norm norm;
  };
  struct Stack {
    const float* positions = nullptr;
    Norm norm;
    std::vector<Layer> layers;
    int64_t heads = 0;
  };
  using Values = std::vector<float>;

  Stack MakeStack(const std::string& side, int64_t layers, int64_t heads, bool decoder);
  Affine Pack(const std::vector<std::string>& names) const;
  Norm NormOf(const std::string& name) const;
  void Embed(const Stack& stack, int64_t token, int64_t position, float* out) const;
  // x [rows, d]: x = Norm(x + out(mixed)), and the feed-forward part after it.
  void AddAttention(const Attention& attention, const Values& mixed, int64_t rows, Values* x) const;
  void FeedForward(const Layer& layer, int64_t rows, Values* x) const;
  // Texts in rows [begins[i], begins[i + 1]) of kvq [rows, 3 d_model]: keys, values, queries. Each attends to itself.
  void AttendToTexts(const Stack& stack, const std::vector<int64_t>& begins, bool causal, const Values& kvq,
                     Values* mixed) const;
  void AttendToPast(const Decoding& texts, size_t layer, const Values& kvq, Values* mixed) const;
  // Rows [begin, end) of q attend to one source.
  void AttendToSource(const Source& source, size_t layer, int64_t begin, int64_t end, const Values& q, Mixer* mixer,
                      Values* mixed) const;
  // Cross-entropy of each token, from the decoder's x [tokens, d_model].
  std::vector<double> TokenLosses(const Values& x, const std::vector<int32_t>& tokens) const;

  const BartConfig config_;
  const Layout& layout_;
  const float *weights_, *words_;  // words_: the embedding [vocab_size, d_model]
  Affine output_;
  Stack encoder_, decoder_;
};

}  // namespace backplane::seq2seq
