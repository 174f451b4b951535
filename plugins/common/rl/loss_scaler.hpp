// The scale of losses whose gradients are computed in float16, by the rule of torch.amp.GradScaler: half after an update whose
// gradient overflowed, which is skipped; twice after 2,000 updates in a row without an overflow.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "backplane/learner.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::rl {

class LossScaler {
 public:
  double scale() const { return scale_; }
  uint64_t growth_counter() const { return good_; }        // updates since the last overflow or growth
  uint64_t skipped() const { return skipped_; }            // updates
  uint64_t last_overflow() const { return overflow_at_; }  // number of the skipped update, from 1; 0: none

  // Call it after each update, whose gradients have been divided by `scale()`. Throws bp::Error (BP_E_NUMERIC), ending with
  // `hint`, if a gradient overflows at a scale of 1 or less: then the scale is not the cause.
  void Update(bool overflowed, const std::string& hint) {
    ++updates_;
    if (overflowed) {
      if (scale_ <= 1)
        throw bp::Error(BP_E_NUMERIC, "the gradient in float16 is not finite, even without a scaled loss; " + hint);
      scale_ *= kBackoff, good_ = 0, ++skipped_, overflow_at_ = updates_;
    } else if (++good_ == kInterval) {
      if (std::isfinite(static_cast<float>(scale_ * kGrowth))) scale_ *= kGrowth;
      good_ = 0;
    }
  }

  void Save(const bp::Writer& writer) const {
    writer.Put(scale_);
    for (const uint64_t number : {good_, updates_, skipped_, overflow_at_}) writer.Put(number);
  }
  void Load(const bp::Reader& reader) {
    scale_ = reader.Get<double>();
    for (uint64_t* number : {&good_, &updates_, &skipped_, &overflow_at_}) *number = reader.Get<uint64_t>();
    if (!(scale_ > 0) || !std::isfinite(scale_)) RefuseSaved("the scale of losses", "a number above 0", scale_);
    if (skipped_ > updates_ || overflow_at_ > updates_ || good_ >= kInterval)
      RefuseSaved("counters of the scale of losses", "at most the number of updates", skipped_);
  }

 private:
  static constexpr double kGrowth = 2, kBackoff = 0.5;
  static constexpr uint64_t kInterval = 2000;

  double scale_ = 65536;
  uint64_t good_ = 0, updates_ = 0, skipped_ = 0, overflow_at_ = 0;
};

}  // namespace backplane::rl
