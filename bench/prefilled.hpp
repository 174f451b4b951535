// A learner that does nothing: actions are put into the buffers before the clock starts.
#pragma once

#include <time.h>

#include <memory>
#include <string>

#include "rollout/collector.hpp"

namespace backplane::bench {

struct Host {
  Host(const std::string& file, const std::string& id, nlohmann::json options, uint64_t rows, uint64_t chunk_rows);
  // One rollout; returns the CPU seconds of this thread.
  double Collect(uint64_t horizon);
  // Uniform actions in [-1, 1] for every step of a rollout; call collector->Prepare(horizon) before.
  void FillActions(uint64_t horizon, uint64_t elements);

  std::atomic<bool> cancelled{false};
  HostSinks sinks;
  std::unique_ptr<LoadedModule> module, learner_module;
  std::unique_ptr<EnvInstance> env;
  std::unique_ptr<LearnerInstance> learner;
  RunnerPool pool{1};
  std::vector<PhaseClock> clocks{1};
  std::unique_ptr<Collector> collector;
};

inline double ThreadCpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// CPU seconds of a bare loop over the same controls, episodes and resets as the host's first rollout: mj_step and resets, no
// observation, no reward. `options` are those of the host's env. `heights` [rows] gets each row's last height.
double AntRaw(Host& host, const nlohmann::json& options, uint64_t horizon, std::vector<double>* heights);

}  // namespace backplane::bench
