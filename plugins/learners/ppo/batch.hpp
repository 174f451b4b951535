// The samples of an iteration, flattened to t * rows + row, and shuffled minibatches of them.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "gradient.hpp"
#include "normalizer.hpp"
#include "on_policy/shuffle.hpp"
#include "options.hpp"

namespace backplane::ppo {

struct Samples {
  int64_t n = 0;
  std::vector<float> obs, action, logp, advantage, ret, value;  // obs are normalised
  std::vector<int64_t> choice;                                  // choices and bits
  std::vector<uint8_t> mask;                                    // of the choices, if there is one
  std::vector<Pixels> images;                                   // of each image
};

// Reuses its memory for all iterations.
class Batch {
 public:
  // `sequence`: most samples of a sequence of a net with a memory.
  Batch(const Net& net, const EnvShape& shape, int64_t sequence);

  // Copies observations, except images, and actions from a rollout of `rows` rows; the caller fills in advantages and returns.
  // Its tensors must stay valid for the update. `obs_norm` may be NULL.
  void Take(const bp::Delivery& delivery, int64_t rows, const ObsNormalizer* obs_norm);
  // Reorders the samples, or the sequences of a net with a memory; determined by `key`.
  void Shuffle(uint64_t key, const Parallel& parallel);
  int64_t ordered() const { return carry_ > 0 ? sequences_.n() : all_.n; }
  // Samples, or sequences, [begin, end) in that order, without copying; valid until the next order, or the next call.
  Minibatch<float> Select(int64_t begin, int64_t end);
  // The same as a contiguous copy; valid until the next call.
  Minibatch<float> Gather(int64_t begin, int64_t end);

  Samples& samples() { return all_; }
  const Samples& samples() const { return all_; }

 private:
  static Minibatch<float> View(const Samples& samples, int64_t n);
  void Resize(int64_t n, Samples* samples) const;
  void GatherImages(int64_t begin, Samples* out);
  void TakeChoices(const bp::Delivery& delivery, int64_t rows);
  void TakeSequences(const bp::Delivery& delivery, int64_t rows);

  int64_t obs_, numbers_, choices_, flags_, carry_, sequence_;  // numbers of each per sample; flags_: 0: no mask
  std::string mask_name_;
  std::vector<ObsChannel> obs_channels_;
  std::vector<nn::Image> images_;
  std::vector<std::vector<uint8_t>> pixels_;  // of a minibatch
  std::vector<ActionChannel> actions_;
  Samples all_, part_;
  std::vector<int64_t> order_;
  SequenceSet sequences_;
  SequenceBlocks blocks_;             // of a minibatch
  std::vector<float> first_carries_;  // [sequences, carry]
  Shuffler shuffler_;
};

}  // namespace backplane::ppo
