// The parts that the trial loop and its classes use; all outlive them.
#pragma once

#include <atomic>
#include <cstdint>

#include "contract/trial_spec.hpp"
#include "rollout/instance.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/metrics.hpp"
#include "trial/monitors.hpp"
#include "trial/status.hpp"
#include "trial/threads.hpp"
#include "workers/group.hpp"

namespace backplane {

class MomentRecorder;

struct LoopParts {
  const TrialSpec& spec;
  EnvInstance& env;
  LearnerInstance& learner;
  EnvInstance* evaluation_env;  // with evaluation.episodes rows; NULL: no evaluation
  MonitorHost& monitors;
  MetricsHub& metrics;
  StatusWriter& status;
  const std::atomic<bool>& cancelled;
  TrialThreads& threads;
  CheckpointFolder& checkpoints;
  uint64_t chunk_rows, call_rows;  // TrialParts, like the next one
  bool acts_whole;
  WorkerGroup* workers = nullptr;    // they play candidates; NULL: the trial does
  MomentRecorder* moment = nullptr;  // of a replay for `backplane inspect`
  // Breaks off an iteration of a learner with a large state; NULL: `cancelled` does.
  const std::atomic<bool>* late_stop = nullptr;

  // Breaks off an iteration that has begun.
  const std::atomic<bool>& stop() const { return late_stop ? *late_stop : cancelled; }
  PhaseClock& clock() const { return threads.clocks()[0]; }  // the control thread's
};

}  // namespace backplane
