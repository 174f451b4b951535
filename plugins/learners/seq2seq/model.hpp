// A BART model that is trained: weights, gradients and AdamW's moments in flat buffers. No header of LibTorch is needed here.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backplane/host.h"
#include "backplane/tensor.h"
#include "generate_options.hpp"
#include "layout.hpp"
#include "rl/loss_scaler.hpp"

namespace backplane::seq2seq {

// Texts and their summaries from the host: int32 tokens [n, S] and [n, T], whose rows may be strided, int32 lengths [n].
// `label` and `label_length` may be NULL if only the text is needed.
struct MicroBatch {
  const bp_tensor *source, *source_length, *label = nullptr, *label_length = nullptr;
  int64_t size() const { return source->shape[0]; }
  // The tokens of each source, one at least, and of each label.
  std::vector<std::span<const int32_t>> Sources() const;
  std::vector<std::span<const int32_t>> Labels() const;
  // Tokens that count, and positions that are computed, of both sides.
  int64_t LabelTokens() const;
  int64_t RealTokens() const;
  int64_t PaddedTokens() const;
  // Throws bp::Error (BP_E_CONFIG) if a label does not start with the config's bos_token_id and end with its eos_token_id: a
  // model with a different eos token than the env writes empty or endless texts. If both ids are equal (KoBART), labels have no
  // bos.
  void NeedIdsOf(const BartConfig& config) const;
};

struct ModelOptions {
  bp_device device = {BP_DEVICE_CPU, 0};               // or of CUDA
  int64_t workers = 1;                                 // gradient buffers, for micro-batches at the same time
  bool recompute = false, bf16 = false, fp16 = false;  // fp16: with a scaled loss
  double label_smoothing = 0;
  double beta1 = .9, beta2 = .999, epsilon = 1e-8, weight_decay = 0, max_grad_norm = 1;  // 0: gradients are not clipped
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const Layout& layout() const = 0;
  // True if all texts of a micro-batch are padded to the longest.
  virtual bool pads() const = 0;
  // Weights [layout.size()] and AdamW's moments [layout.trained()] on the CPU, as copies if the device is different. Callers
  // may write to them; on a GPU the pointers are valid until the next computing call. [control]
  virtual float* weights() = 0;
  virtual float *first_moment() = 0, *second_moment() = 0;
  virtual uint64_t updates() const = 0;
  virtual void set_updates(uint64_t n) = 0;

  // Adds the gradient of (summed cross-entropy / divisor) to the worker's, and returns that quotient. `seed` determines the
  // dropout masks. Different workers may run concurrently; throws bp::Error (BP_E_OOM_DEVICE). [any]
  virtual double Backward(int64_t worker, const MicroBatch& batch, double divisor, uint64_t seed) = 0;
  // The same for the worker's share of several micro-batches. Their texts are dealt to the workers back and forth, so that
  // sorted texts give similar shares. Only without padding. [any]
  virtual double BackwardOfShare(int64_t worker, std::span<const MicroBatch> batches, double divisor, uint64_t seed) = 0;
  virtual void DropGradients() = 0;
  // The scale of losses in float16; NULL: the loss is not scaled. [control]
  virtual rl::LossScaler* scaler() = 0;
  // Sums the workers' gradients in order, clips, applies AdamW (Loshchilov and Hutter, arXiv 1711.05101) and clears the
  // gradients. Returns the norm before clipping; if it is not finite, only the scale of
  // losses changes.
  virtual double Step(double lr) = 0;

  // Summed cross-entropy of the labels, without dropout and smoothing. On a CPU a text's loss does not depend on other texts in
  // the call, and sums over calls are exact. [any]
  virtual double Loss(const MicroBatch& batch) const = 0;
  // Generates texts for rows of sources, without the start token. Throws bp::Error (BP_E_OOM_DEVICE; BP_E_NUMERIC if scores are
  // not finite). [any]
  virtual std::vector<std::vector<int64_t>> Write(const MicroBatch& sources, const GenerateOptions& options) const = 0;
};

// Reports phases to `host`. Throws bp::Error (BP_E_OOM_DEVICE) if the buffers do not fit.
std::unique_ptr<Model> MakeModel(const BartConfig& config, const ModelOptions& options, const bp_host* host);

}  // namespace backplane::seq2seq
