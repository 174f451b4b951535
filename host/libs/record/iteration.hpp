// A line of metrics.jsonl: the measures of an iteration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/fields.hpp"
#include "record/spread.hpp"

namespace backplane {

// Everything that differs between equal trials, so that the rest can be compared byte for byte.
struct IterationTime {
  std::optional<double> t;  // trial time in seconds at the end of the iteration, including its evaluation
  std::optional<double> iteration_s, sps, sampling_sps;
  std::map<std::string, double> machine;  // from monitors and, for its threads, from the host
  std::map<std::string, double> phases;   // seconds per phase, summed over threads, since the previous line; zeros left out

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("t", NaNIfNull(self.t));
    visit("iteration_s", NaNIfNull(self.iteration_s));
    visit("sps", NaNIfNull(self.sps));
    visit("sampling_sps", NaNIfNull(self.sampling_sps));
    visit("machine", LeftOutIfEmpty(self.machine));
    visit("phases", LeftOutIfEmpty(self.phases));
  }
};

// Equal in every run of a trial.
struct IterationMeasures {
  std::optional<uint64_t> iteration;  // 0: the warm-up iteration, or the evaluation before training
  std::optional<uint64_t> step;       // env steps so far
  std::optional<uint64_t> episodes;   // so far
  // Means over the last episodes; absent in the line of an evaluation before training.
  std::optional<Spread> episode_return;
  std::optional<std::map<std::string, Spread>> ep;
  std::map<std::string, double> metrics;  // recorded by plugins
  std::optional<EpisodeMeans> eval;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("step", self.step);
    visit("episodes", self.episodes);
    visit("return", self.episode_return);
    visit("ep", self.ep);
    visit("metrics", LeftOutIfEmpty(self.metrics));
    visit("eval", self.eval);
  }
};

struct Iteration : IterationMeasures {
  IterationTime time;

  static constexpr void Fields(auto& self, auto&& visit) {
    IterationMeasures::Fields(self, visit);
    visit("time", DefaultIfMissing(self.time));
  }
};

}  // namespace backplane
