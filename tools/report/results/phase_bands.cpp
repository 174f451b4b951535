#include "results/phase_bands.hpp"

#include <cmath>
#include <numeric>

#include "record/attempt_json.hpp"

namespace backplane {
namespace {

constexpr double kLeastSeen = 1.0 / 200;  // of a stretch

}  // namespace

double PhaseBands::Stretch::ShareOf(Phase phase) const {
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return all > 0 ? seconds[static_cast<size_t>(phase)] / all : 0;
}

void PhaseBands::Add(double end_s, const std::map<std::string, double>& seconds) {
  Stretch line;
  double sum = 0;
  for (const auto& [name, of_phase] : seconds) {
    const std::optional<Phase> phase = FindPhase(name);
    if (!phase || !std::isfinite(of_phase) || of_phase < 0) continue;
    line.seconds[static_cast<size_t>(*phase)] = of_phase;
    sum += of_phase;
  }
  if (!(sum > 0) || !std::isfinite(end_s)) return;
  while (!stretches_.empty() && stretches_.back().end_s >= end_s) {
    stretches_.pop_back();
    in_last_ = width_;
  }
  line.begin_s = stretches_.empty() ? 0 : stretches_.back().end_s;
  line.end_s = end_s;
  if (stretches_.empty()) width_ = in_last_ = 1;
  if (stretches_.empty() || in_last_ == width_) {
    if (stretches_.size() == kMost) Merge();
    stretches_.push_back(line);
    in_last_ = 1;
    return;
  }
  Stretch& last = stretches_.back();
  last.end_s = end_s;
  for (size_t p = 0; p < kPhaseCount; ++p) last.seconds[p] += line.seconds[p];
  ++in_last_;
}

std::array<bool, kPhaseCount> PhaseBands::Seen() const {
  std::array<bool, kPhaseCount> seen = {};
  for (const Stretch& stretch : stretches_)
    for (size_t p = 0; p < kPhaseCount; ++p) seen[p] |= stretch.ShareOf(static_cast<Phase>(p)) >= kLeastSeen;
  return seen;
}

// Two and two; all are full and there is an even number of them.
void PhaseBands::Merge() {
  static_assert(kMost % 2 == 0);
  for (size_t i = 0; i < kMost; i += 2) {
    Stretch both = stretches_[i];
    both.end_s = stretches_[i + 1].end_s;
    for (size_t p = 0; p < kPhaseCount; ++p) both.seconds[p] += stretches_[i + 1].seconds[p];
    stretches_[i / 2] = both;
  }
  stretches_.resize(kMost / 2);
  width_ *= 2;
}

PhaseBands ReadPhaseBands(const TrialFolder& folder, std::optional<uint64_t> last) {
  PhaseBands bands;
  for (unsigned attempt = 1; attempt <= folder.LastAttempt(); ++attempt) {
    ForEachIteration(folder.attempt(attempt).metrics(), [&](const Iteration& line) {
      const bool counts = !last || line.iteration.value_or(0) <= *last;
      if (counts && line.time.t) bands.Add(*line.time.t, line.time.phases);
    });
  }
  return bands;
}

}  // namespace backplane
