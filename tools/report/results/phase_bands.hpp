// Phase times of a trial per span: between lines of metrics.jsonl, or between several lines if there are many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/phases.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// Uses bounded memory: with more lines, each span sums several.
class PhaseBands {
 public:
  struct Stretch {
    double begin_s = 0, end_s = 0;                 // of the trial
    std::array<double, kPhaseCount> seconds = {};  // of all threads

    double ShareOf(Phase phase) const;  // of all phases, 0 to 1
  };
  static constexpr size_t kMost = 40;  // stretches

  // The seconds of each phase up to `end_s`. An `end_s` at or before a known one resumes from a checkpoint there. Ignores
  // unknown phases and non-finite values.
  void Add(double end_s, const std::map<std::string, double>& seconds);
  const std::vector<Stretch>& stretches() const { return stretches_; }
  // Phases with a visible share of the time: at least 1/200 of a span.
  std::array<bool, kPhaseCount> Seen() const;

 private:
  void Merge();

  std::vector<Stretch> stretches_;
  size_t width_ = 1, in_last_ = 0;  // lines in a full span, and in the last one
};

// Combines all attempts of a trial, up to the iteration `last`.
PhaseBands ReadPhaseBands(const TrialFolder& folder, std::optional<uint64_t> last = {});

}  // namespace backplane
