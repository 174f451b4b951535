// A mean with its spread, as all files write it: {"mean", "sd", "se", "n"}.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "record/fields.hpp"

namespace backplane {

// Of nothing there is no mean, of one sample no spread; a number that was measured and is not finite is NaN.
struct Spread {
  std::optional<double> mean;
  std::optional<double> sd, se;  // sample standard deviation; standard error of the mean
  std::optional<uint64_t> n;     // absent: the mean alone was written down

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("mean", NullIfAbsent(self.mean));
    visit("sd", NullIfAbsent(self.sd));
    visit("se", NullIfAbsent(self.se));
    visit("n", self.n);
  }
  void ReadNumber(double number) { mean = number; }
  // JSON has no word for NaN: a null where samples were taken stands for it.
  void AfterReading() {
    const auto nan_from = [this](uint64_t at_least, std::optional<double>* value) {
      if (!*value && n.value_or(0) >= at_least) *value = std::numeric_limits<double>::quiet_NaN();
    };
    nan_from(1, &mean);
    nan_from(2, &sd);
    nan_from(2, &se);
  }
};

// Over episodes: of training, of an evaluation, of a policy that learns nothing.
struct EpisodeMeans {
  std::optional<Spread> episode_return;
  std::map<std::string, Spread> metrics;  // "ep/length" and what the env tells of its episodes

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("return", self.episode_return);
    visit("metrics", DefaultIfMissing(self.metrics));
  }
};

}  // namespace backplane
