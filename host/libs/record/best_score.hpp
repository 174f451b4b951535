// The best evaluation of a trial, in checkpoints and in result.json.
#pragma once

#include <cstdint>
#include <string>

#include "record/fields.hpp"

namespace backplane {

struct BestScore {
  std::string metric;                     // "eval/return"
  int direction = 1;                      // 1: higher is better, -1: lower
  double value = 0;                       // finite
  uint64_t iteration = 0, env_steps = 0;  // before the evaluation

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("metric", self.metric);
    visit("direction", self.direction);
    visit("value", self.value);
    visit("iteration", self.iteration);
    visit("env_steps", self.env_steps);
  }
};

}  // namespace backplane
