// A mean with its spread; every file writes it as {"mean", "sd", "se", "n"}.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "record/fields.hpp"

namespace backplane {

// A mean needs one sample, a spread two. NaN is a measured value that is not finite.
struct Spread {
  std::optional<double> mean;
  std::optional<double> sd, se;  // sample standard deviation; standard error of the mean
  std::optional<uint64_t> n;     // absent: only the mean was recorded

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("mean", NullIfAbsent(self.mean));
    visit("sd", NullIfAbsent(self.sd));
    visit("se", NullIfAbsent(self.se));
    visit("n", self.n);
  }
  void ReadNumber(double number) { mean = number; }
  // JSON has no NaN, so null stands for it if samples exist.
  void AfterReading() {
    const auto nan_from = [this](uint64_t at_least, std::optional<double>* value) {
      if (!*value && n.value_or(0) >= at_least) *value = std::numeric_limits<double>::quiet_NaN();
    };
    nan_from(1, &mean);
    nan_from(2, &sd);
    nan_from(2, &se);
  }
};

// Means over episodes of training, an evaluation or a baseline policy.
struct EpisodeMeans {
  std::optional<Spread> episode_return;
  std::map<std::string, Spread> metrics;  // "ep/length" and the env's episode metrics

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("return", self.episode_return);
    visit("metrics", DefaultIfMissing(self.metrics));
  }
};

}  // namespace backplane
