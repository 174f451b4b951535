// The ACTION channels of an env as distributions, and their values in acting and in rollouts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "backplane/rng.h"
#include "on_policy/distributions.hpp"

namespace backplane::on_policy {

struct ActionChannel {
  std::string name;
  uint16_t space;    // BP_SPACE_*
  int64_t elements;  // per row or agent
  size_t first, n;   // its distributions
};

struct ActionChannels {
  // Throws bp::Unsupported for a channel that is not a BOX, DISCRETE, MULTI_DISCRETE or MULTI_BINARY of its usual type.
  void Add(const bp_channel& channel);
  // The action as ext/policy.h describes it.
  std::string HeadText() const;

  std::vector<ActionChannel> actions;
  Distributions distributions;
  std::vector<float> low, high;                 // of each number, infinite if unbounded
  std::vector<const bp_channel*> declarations;  // borrowed, only for a constructor
};

// An entry of a call of `act`: a row or an agent.
struct ActEntry {
  const bp_act& act;
  uint64_t key;         // of its random numbers; its normals are FillNormals(key)
  int64_t at;           // in the tensors
  const float* head;    // the policy's outputs
  const uint8_t* mask;  // of all choices; NULL: all allowed
  bool greedy() const { return act.flags & BP_ACT_GREEDY; }
};

// Where an entry's stream draws its choices, if its first numbers are normals.
constexpr uint64_t kChoicesBesideNumbers = uint64_t{1} << 32;

// Draws distribution k of a channel, a choice or bits, into `out`, and returns its log-probability. `rng` NULL: the likeliest.
double DrawChoices(const ActEntry& entry, const Distribution& part, int64_t k, bp_rng* rng, const bp_tensor* out);

// Draws the actions of all channels into the first outputs and returns their log-probability. numbers(part, out) draws a
// Gaussian.
template <class Numbers>
double DrawAction(const ActEntry& entry, const std::vector<ActionChannel>& channels, const Distributions& action,
                  Numbers&& numbers) {
  bp_rng stream{entry.key, action.numbers > 0 ? kChoicesBesideNumbers : 0};
  double logp = 0;
  for (size_t c = 0; c < channels.size(); ++c) {
    for (size_t k = 0; k < channels[c].n; ++k) {
      const Distribution& part = action.each[channels[c].first + k];
      const bp_tensor* const out = entry.act.out[c];
      logp += part.kind == Kind::kGaussian
                  ? numbers(part, out)
                  : DrawChoices(entry, part, static_cast<int64_t>(k), entry.greedy() ? nullptr : &stream, out);
    }
  }
  return logp;
}

// Calls take(view, elements, first choice) for each channel with choices or bits of a rollout.
template <class Take>
void ForChoices(const bp::Delivery& delivery, const std::vector<ActionChannel>& channels, Take&& take) {
  int64_t first = 0;
  for (const ActionChannel& each : channels) {
    if (each.space == BP_SPACE_BOX) continue;
    each.space == BP_SPACE_MULTI_BINARY ? take(delivery.Get<uint8_t>(each.name.c_str()), each.elements, first)
                                        : take(delivery.Get<int32_t>(each.name.c_str()), each.elements, first);
    first += each.elements;
  }
}

}  // namespace backplane::on_policy
