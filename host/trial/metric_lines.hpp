// Writes metrics.jsonl. The line of an iteration is made at its end and written after its evaluation; after a stop in between,
// the next attempt writes it.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "record/iteration.hpp"
#include "trial/loop_parts.hpp"
#include "trial/phase_meter.hpp"
#include "trial/recorder.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

class MetricLines {
 public:
  explicit MetricLines(const LoopParts& parts);

  // Makes the line of a counted iteration.
  void Make(const TrialCount& count, const OpenIteration& iteration, const EpisodeWindow& window);
  // The line that was made but not written.
  const std::optional<Iteration>& unwritten() const { return unwritten_; }
  void AddEvaluation(const EpisodeMeans& evaluation) { unwritten_->eval = evaluation; }
  // Adds the monitors' measures and the time per phase since the last call. Keeps an earlier attempt's measures of the
  // iteration.
  void TakeTimes();
  // Writes the unwritten line at this second of the trial.
  Iteration Write(double trial_s);
  // Writes a line without an iteration.
  void Append(Iteration line);
  // Resets the threads' clocks; later lines still include the time before.
  void ResetClocks() { phases_.ResetClocks(); }
  // Brings the lines to the disk. Throws std::runtime_error.
  void Sync() { file_.Sync(); }

  // True if the attempts before a resume have written lines.
  bool HasEarlier() const {
    return std::ranges::any_of(before_, [](const MetricsPart& part) { return part.lines > 0; });
  }
  // All lines of the trial so far, by attempt.
  MetricsRecord SoFar() const;
  void GoOnFrom(std::vector<MetricsPart> before, std::optional<Iteration> unwritten) {
    before_ = std::move(before);
    unwritten_ = std::move(unwritten);
  }

 private:
  MetricsHub& metrics_;
  EnvInstance& env_;
  PhaseMeter phases_;
  MetricsFile file_;
  std::vector<MetricsPart> before_;  // of the attempts before a resume
  std::optional<Iteration> unwritten_;
};

}  // namespace backplane
