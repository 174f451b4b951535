// Actions without learning: zero, or uniform samples of the action space. The host measures their return as a baseline, and
// some learners act with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/channel.h"
#include "backplane/rng.h"

namespace bp {

// The values that an ACTION channel allows. Keeps no reference to the channel; several threads may use it at the same time.
class ActionSpace {
 public:
  // `action`: float32 BOX, or one int32 DISCRETE per row; `mask`: the env's ACTION_MASK, or NULL. Throws std::invalid_argument
  // for other channels. The host has validated nvec and bounds (channel.h).
  explicit ActionSpace(const bp_channel& action, const bp_channel* mask = nullptr) {
    action.space == BP_SPACE_DISCRETE ? ReadDiscrete(action, mask) : ReadBox(action);
  }

  bool discrete() const { return choices_ > 0; }
  bool masked() const { return masked_; }  // whether `mask` below is read

  // Both write the action of one row or agent, float [elements] or one int32, to `out`. `mask` [choices], 1 = allowed, or NULL.
  // Zero is clamped to the bounds of a box and moved to the first allowed choice.
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

  void ReadDiscrete(const bp_channel& action, const bp_channel* mask) {
    if (Elements(action) != 1 || !Is(action, BP_DTYPE_INT))
      throw std::invalid_argument(std::string("action channel '") + action.name + "' should be one int32 per row");
    choices_ = action.nvec[0];
    if (!mask) return;
    if (mask->scope != action.scope || Elements(*mask) != choices_ || !Is(*mask, BP_DTYPE_UINT, 8))
      throw std::invalid_argument(std::string("mask '") + mask->name +
                                  "' should have the action's scope and one uint8 per choice");
    masked_ = true;
  }

  void ReadBox(const bp_channel& action) {
    if (action.space != BP_SPACE_BOX || !Is(action, BP_DTYPE_FLOAT))
      throw std::invalid_argument(std::string("action channel '") + action.name + "' should be a float32 BOX or DISCRETE");
    for (int64_t i = 0; i < Elements(action); ++i) {
      const uint64_t at = action.n_bounds > 1 ? static_cast<uint64_t>(i) : 0;
      low_.push_back(action.n_bounds ? action.low[at] : -INFINITY);
      high_.push_back(action.n_bounds ? action.high[at] : INFINITY);
    }
  }

  void Write(bp_rng* rng, const uint8_t* mask, void* out) const {
    if (discrete()) *static_cast<int32_t*>(out) = Choice(rng, masked_ ? mask : nullptr);
    for (size_t i = 0; i < low_.size(); ++i) {
      const bool bounded = std::isfinite(low_[i]) && std::isfinite(high_[i]);
      const double value = !rng ? 0 : bounded ? bp_rng_range(rng, low_[i], high_[i]) : bp_rng_normal(rng);
      static_cast<float*>(out)[i] = static_cast<float>(std::clamp(value, low_[i], high_[i]));
    }
  }

  // An allowed choice; 0 if the mask allows none, as envs write it for rows that do not act.
  int32_t Choice(bp_rng* rng, const uint8_t* mask) const {
    const int64_t allowed = mask ? std::count_if(mask, mask + choices_, [](uint8_t m) { return m != 0; }) : choices_;
    if (allowed == 0) return 0;
    int64_t skip = rng ? static_cast<int64_t>(bp_rng_below(rng, static_cast<uint64_t>(allowed))) : 0;
    for (int32_t choice = 0;; ++choice) {
      if ((!mask || mask[choice]) && skip-- == 0) return choice;
    }
  }

  int64_t choices_ = 0;  // 0: BOX
  bool masked_ = false;
  std::vector<double> low_, high_;
};

}  // namespace bp
