// Actions without learning: zero, or uniform samples of the action space. The host measures their return as a baseline, and
// some learners act with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/rng.h"

namespace bp {

// The values that an ACTION channel allows. Keeps no reference to the channel; several threads may use it at the same time.
class ActionSpace {
 public:
  // `action`: float32 BOX, int32 DISCRETE (one per row) or MULTI_DISCRETE, or uint8 MULTI_BINARY; `mask`: the env's
  // ACTION_MASK, or NULL. If the mask has `flags` flags for several ACTION channels, this one's start at `first_flag`; 0 flags:
  // the mask is its own. Throws std::invalid_argument for other channels. The host has validated nvec and bounds (channel.h).
  explicit ActionSpace(const bp_channel& action, const bp_channel* mask = nullptr, int64_t first_flag = 0, int64_t flags = 0)
      : first_flag_(first_flag) {
    if (action.space == BP_SPACE_MULTI_BINARY)
      ReadBits(action);
    else
      FlagsOf(action) > 0 ? ReadChoices(action, mask, flags) : ReadBox(action);
  }

  // Number of the flags that a mask has for the channel: one per choice of each element.
  static int64_t FlagsOf(const bp_channel& action) {
    int64_t flags = 0;
    if (action.space == BP_SPACE_DISCRETE || action.space == BP_SPACE_MULTI_DISCRETE)
      for (int64_t i = 0; i < Elements(action); ++i) flags += action.nvec[action.space == BP_SPACE_DISCRETE ? 0 : i];
    return flags;
  }

  bool discrete() const { return !choices_.empty(); }  // int32
  bool masked() const { return masked_; }              // whether `mask` below is read

  // Both write the action of one row or agent, float, int32 or uint8 [elements], to `out`. `mask`: the whole mask of the row or
  // agent, 1 = allowed, or NULL. Zero is clamped to the bounds of a box and moved to the first allowed choice.
  void Zero(const uint8_t* mask, void* out) const { Write(nullptr, mask, out); }
  // An element without both bounds has no uniform distribution. It is standard normal, as in Gymnasium's Box.sample, and
  // clamped to a single bound (for which Gymnasium draws from an exponential distribution).
  void Uniform(bp_rng* rng, const uint8_t* mask, void* out) const { Write(rng, mask, out); }

 private:
  static int64_t Elements(const bp_channel& channel) {
    int64_t n = 1;
    for (int i = 0; i < channel.ndim; ++i) n *= channel.shape[i];
    return n;
  }
  static bool Is(const bp_channel& channel, uint8_t code, uint8_t bits = 32) {
    return channel.dtype.code == code && channel.dtype.bits == bits && channel.dtype.lanes == 1;
  }

  void ReadBits(const bp_channel& action) {
    if (!Is(action, BP_DTYPE_UINT, 8))
      throw std::invalid_argument(std::string("action channel '") + action.name + "' should be uint8 MULTI_BINARY");
    bits_ = Elements(action);
  }

  void ReadChoices(const bp_channel& action, const bp_channel* mask, int64_t flags) {
    if ((action.space == BP_SPACE_DISCRETE && Elements(action) != 1) || !Is(action, BP_DTYPE_INT))
      throw std::invalid_argument(std::string("action channel '") + action.name + "' should be int32, one per row if DISCRETE");
    choices_.assign(action.nvec, action.nvec + Elements(action));
    if (!mask) return;
    if (mask->scope != action.scope || Elements(*mask) != (flags > 0 ? flags : FlagsOf(action)) || !Is(*mask, BP_DTYPE_UINT, 8))
      throw std::invalid_argument(std::string("mask '") + mask->name +
                                  "' should have the action's scope and one uint8 per choice");
    masked_ = true;
  }

  void ReadBox(const bp_channel& action) {
    if (action.space != BP_SPACE_BOX || !Is(action, BP_DTYPE_FLOAT))
      throw std::invalid_argument(std::string("action channel '") + action.name +
                                  "' should be float32 BOX, DISCRETE, MULTI_DISCRETE or MULTI_BINARY");
    for (int64_t i = 0; i < Elements(action); ++i) {
      const uint64_t at = action.n_bounds > 1 ? static_cast<uint64_t>(i) : 0;
      low_.push_back(action.n_bounds ? action.low[at] : -INFINITY);
      high_.push_back(action.n_bounds ? action.high[at] : INFINITY);
    }
  }

  void Write(bp_rng* rng, const uint8_t* mask, void* out) const {
    const uint8_t* flags = masked_ && mask ? mask + first_flag_ : nullptr;
    for (size_t i = 0; i < choices_.size(); ++i) {
      static_cast<int32_t*>(out)[i] = Choice(choices_[i], rng, flags);
      if (flags) flags += choices_[i];
    }
    for (int64_t i = 0; i < bits_; ++i) static_cast<uint8_t*>(out)[i] = rng ? bp_rng_u64(rng) >> 63 : 0;
    for (size_t i = 0; i < low_.size(); ++i) {
      const bool bounded = std::isfinite(low_[i]) && std::isfinite(high_[i]);
      const double value = !rng ? 0 : bounded ? bp_rng_range(rng, low_[i], high_[i]) : bp_rng_normal(rng);
      static_cast<float*>(out)[i] = static_cast<float>(std::clamp(value, low_[i], high_[i]));
    }
  }

  // An allowed choice; 0 if the mask allows none, as envs write it for rows that do not act.
  static int32_t Choice(int64_t n, bp_rng* rng, const uint8_t* mask) {
    const int64_t allowed = mask ? std::count_if(mask, mask + n, [](uint8_t m) { return m != 0; }) : n;
    if (allowed == 0) return 0;
    int64_t skip = rng ? static_cast<int64_t>(bp_rng_below(rng, static_cast<uint64_t>(allowed))) : 0;
    for (int32_t choice = 0;; ++choice) {
      if ((!mask || mask[choice]) && skip-- == 0) return choice;
    }
  }

  std::vector<int64_t> choices_;  // of each element
  int64_t bits_ = 0, first_flag_;
  bool masked_ = false;
  std::vector<double> low_, high_;
};

// The place of an ACTION channel's flags in the mask of its agents.
struct MaskPlace {
  const bp_channel* mask = nullptr;   // NULL: the env has none
  int64_t first_flag = 0, flags = 0;  // flags: of all ACTION channels with this mask
};
inline MaskPlace MaskPlaceOf(const bp_env_spec& env, const bp_channel& action) {
  MaskPlace place;
  bool before = true;
  ForEachChannel(env, [&](const bp_channel& c) {
    if (GroupOf(c) != GroupOf(action)) return;
    if (c.role == BP_ROLE_ACTION_MASK && !place.mask) place.mask = &c;
    if (c.role != BP_ROLE_ACTION) return;
    before = before && &c != &action;
    const int64_t flags = ActionSpace::FlagsOf(c);
    place.flags += flags;
    if (before) place.first_flag += flags;
  });
  return place;
}

}  // namespace bp
