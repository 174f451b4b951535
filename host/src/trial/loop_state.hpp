// What the loop knows of its trial, beside what env and learner know.
#pragma once

#include "trial/metric_lines.hpp"
#include "trial/open_iteration.hpp"
#include "trial/recorder.hpp"
#include "trial/trial_clock.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

struct LoopState {
  explicit LoopState(const LoopParts& parts) : lines(parts) {
    count.first_warms_up = parts.spec.experiment.report.MeasuresSpeed();
  }

  TrialClock clock;
  TrialCount count;
  OpenIteration iteration;
  EpisodeWindow window;
  MetricLines lines;
};

}  // namespace backplane
