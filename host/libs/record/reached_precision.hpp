// How well a trial's speed is known that was measured until it is known so well: "precision" of result.json.
#pragma once

#include <cstdint>
#include <optional>

#include "record/fields.hpp"

namespace backplane {

struct ReachedPrecision {
  double wanted_pct = 0;
  std::optional<double> reached_pct;  // absent: of fewer than three iterations nothing is known
  uint64_t iterations = 0;            // that were measured, by the last attempt
  double seconds = 0;                 // which that attempt took, its warm-up included
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
