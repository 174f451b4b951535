// Draws transitions from a replay buffer (backplane/replay.hpp): uniformly, or in proportion to their priority (Schaul et al.,
// arXiv 1511.05952), with returns of n steps.
//
// An admissible start is an entry whose n frames, with `follow` n + 1, are all in the ring. Its window ends with the first step
// that ends an episode, so it never spans a reset, and never the ring's write position.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backplane/replay.hpp"
#include "replay/sum_tree.hpp"

namespace backplane::replay {

struct SamplerOptions {
  uint64_t n_step = 1;
  bool follow = false;  // samples only windows whose following frame is in the ring, too
  double gamma = 0.99;
  bool prioritized = false;
  double alpha = 0.6, beta = 0.4, epsilon = 1e-6;  // a priority is (|error| + epsilon)^alpha
};

struct Start {
  uint64_t frame, row;
  float weight;  // (N P)^-beta, divided by the batch's largest; 1 for uniform draws
};

// The return of a window, and the observation after it with the discount of its value: 0 if the episode terminated.
struct Window {
  const void *obs, *action, *next_obs;
  const void* next_action;  // of the step after the window, with `follow`; null if the window ends an episode
  double reward, discount;
};

class Sampler {
 public:
  // `ring` must outlive it. Draw `number` uses the Philox stream of (seed, BP_PURPOSE_LEARNER, 0, number).
  Sampler(const bp::Replay* ring, const SamplerOptions& options, uint64_t seed);

  // Call after the ring has stored this number of frames: their entries get the largest priority so far.
  void OnStored(uint64_t frames);
  // n starts, with replacement. False if there is no admissible one.
  bool Draw(uint64_t number, int64_t n, std::vector<Start>* out) const;
  Window At(const Start& start) const;
  // Sets the priorities of the last draw's starts, whose errors are [starts.size()].
  void SetPriorities(const std::vector<Start>& starts, const float* errors);

  // Call after the ring has been cleared.
  void Clear();

  // The priorities; equal states give equal bytes and equal draws. Load the ring first: without entries, or with uniform draws,
  // they are passed over.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  uint64_t span() const { return options_.n_step + (options_.follow ? 1 : 0); }  // frames of an admissible start
  uint64_t AdmissibleEnd() const;                                                // of frames, from ring_->first()
  Start ByPriority(double mass) const;

  const bp::Replay* ring_;
  SamplerOptions options_;
  uint64_t seed_;
  std::optional<SumTree> tree_;  // by place; 0 for entries that are no admissible start
  float most_ = 1;               // largest priority so far
};

}  // namespace backplane::replay
