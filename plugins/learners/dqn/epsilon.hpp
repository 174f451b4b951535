// The probability of a random choice, which falls linearly over the first steps of a trial, or over a share of its budget.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rl/saved_numbers.hpp"

namespace backplane::dqn {

class Epsilon {
 public:
  // `steps`: env steps of `rows` envs; from above 0 to 1: a share of the budget; 0: the final value from the first step on.
  Epsilon(double initial, double final, double steps, uint64_t rows)
      : initial_(initial),
        final_(final),
        share_(steps <= 1 ? steps : 0),
        frames_(steps > 1 ? steps / static_cast<double>(rows) : 0),
        done_(steps > 0 ? 0 : 1) {}

  // Before each iteration, with the used share of the budget.
  void OnProgress(double progress) {
    if (share_ > 0) done_ = std::max(done_, std::min(progress / share_, 1.0));
  }
  // In a frame of the trial.
  double At(uint64_t step) const {
    const double done = frames_ > 0 ? std::min(static_cast<double>(step) / frames_, 1.0) : done_;
    return initial_ + (final_ - initial_) * done;
  }
  // From now on the final value.
  void End() { frames_ = 0, done_ = 1; }

  void Save(const bp::Writer& writer, bool ended) const {
    writer.Put(ended ? 0.0 : frames_);
    writer.Put(ended ? 1.0 : done_);
  }
  void Load(const bp::Reader& reader) {
    frames_ = reader.Get<double>(), done_ = reader.Get<double>();
    rl::NeedSavedFromZero(&frames_, 1, "the frames over which epsilon falls");
    rl::NeedSavedFromZero(&done_, 1, "epsilon's progress");
    done_ = std::min(done_, 1.0);
  }

 private:
  double initial_, final_, share_;
  double frames_;  // 0: done_ determines the value
  double done_;
};

}  // namespace backplane::dqn
