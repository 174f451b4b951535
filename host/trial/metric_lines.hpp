// The lines of metrics.jsonl. That of an iteration is made when the iteration ends and written when its evaluation has run,
// which a stop may leave to the next attempt.
#pragma once

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

  // Of an iteration that has ended and is counted.
  void Make(const TrialCount& count, const OpenIteration& iteration, const EpisodeWindow& window);
  // Made and not written yet.
  const std::optional<Iteration>& unwritten() const { return unwritten_; }
  void AddEvaluation(const EpisodeMeans& evaluation) { unwritten_->eval = evaluation; }
  // What monitors measured of the machine since the last call, and how long each phase took. What an earlier attempt measured
  // of the iteration stays.
  void TakeTimes();
  // Writes what is made and not written, at this second of the trial.
  Iteration Write(double trial_s);
  // Another line than that of an iteration.
  void Append(Iteration line);
  // What the threads' clocks have counted goes; lines still tell of it.
  void ResetClocks() { phases_.ResetClocks(); }
  // They are on the disk afterwards. Throws std::runtime_error.
  void Sync() { file_.Sync(); }

  // All lines of the trial so far, attempt by attempt.
  MetricsRecord SoFar() const;
  void GoOnFrom(std::vector<MetricsPart> before, std::optional<Iteration> unwritten) {
    before_ = std::move(before);
    unwritten_ = std::move(unwritten);
  }

 private:
  MetricsHub& metrics_;
  PhaseMeter phases_;
  MetricsFile file_;
  std::vector<MetricsPart> before_;  // of the attempts that this one goes on from
  std::optional<Iteration> unwritten_;
};

}  // namespace backplane
