// The loop's state of its trial, apart from the state of env and learner.
#pragma once

#include "trial/best_tracker.hpp"
#include "trial/fingerprint_record.hpp"
#include "trial/goal_tracker.hpp"
#include "trial/metric_lines.hpp"
#include "trial/recorder.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

struct LoopState {
  explicit LoopState(const LoopParts& parts)
      : lines(parts),
        fingerprints(parts),
        best(parts.spec.experiment.checkpoint.best),
        goal(parts.spec.experiment.budget.until) {
    count.first_warms_up = parts.spec.experiment.report.MeasuresSpeed();
  }

  // Throws std::runtime_error.
  void SyncFiles() { lines.Sync(), fingerprints.Sync(); }

  TrialClock clock;
  TrialCount count;
  OpenIteration iteration;
  EpisodeWindow window;
  MetricLines lines;
  FingerprintRecord fingerprints;
  BestTracker best;
  GoalTracker goal;
};

}  // namespace backplane
