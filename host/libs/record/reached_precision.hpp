// The precision of a trial's speed if the trial measures until a given precision: "precision" of result.json.
#pragma once

#include <cstdint>
#include <optional>

#include "record/fields.hpp"

namespace backplane {

struct ReachedPrecision {
  double wanted_pct = 0;
  std::optional<double> reached_pct;  // absent for fewer than three iterations
  uint64_t iterations = 0;            // measured by the last attempt
  double seconds = 0;                 // of that attempt, including its warm-up
  bool reached = false;

  static void Fields(auto& self, auto&& visit) {
    visit("wanted_pct", self.wanted_pct);
    visit("reached_pct", self.reached_pct);
    visit("iterations", self.iterations);
    visit("seconds", self.seconds);
    visit("reached", self.reached);
  }
};

}  // namespace backplane
