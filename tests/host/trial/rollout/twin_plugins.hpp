// One env in three forms with equal outputs: reset by the host, resetting itself, and resetting itself on a fake device. The
// device holds all its buffers, and only plugins can touch them, during their calls.
#pragma once

#include <atomic>
#include <memory>

#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "rollout/evaluator.hpp"
#include "rollout/rollout_collector.hpp"

namespace backplane::twin {

// Two agents per row. OBS [agent] = row, agent, steps, noise of the episode's seed; STATE = steps, sum of the actions so far. A
// second OBS, "age" int8 [agent] = steps + agent. Action 2 is masked for agent 1 in every second step. An agent's reward is its
// action and some noise. A row ends with probability 1/8 per step and is cut at CutAt(row) steps.
enum class Form { kOrdinary = 1, kSelfResetting, kOnDevice };
constexpr int64_t CutAt(uint64_t row) { return 3 + static_cast<int64_t>(row % 5); }

struct Switches {
  bool moments = false;          // requested by the next learner
  bool carries = false;          // the next learner counts the steps of each agent's episode in CARRY "count" float32 [2]
  std::atomic<int> nan_row{-1};  // the row whose rewards are NaN
  std::atomic<int> nan_end{-1};  // the row whose last observations are NaN
};
extern Switches g_switches;
extern std::atomic<int> g_foreseen;     // resets by the host with a seed that the env already had
extern std::atomic<Phase> g_waited_in;  // the phase of the last copy from the device that waited for steps

// Faults of the next env.
struct Faults {
  bool no_autoreset = false, no_memory = false, no_final_obs = false, short_final_state = false, no_final_age = false;
  uint64_t without_flags = 0;
};
extern Faults g_faults;

// The pages of the device, accessible only while an Open exists.
struct DevicePages {
  struct Open {
    Open();
    ~Open();
  };
  static uint64_t blocks();
  static void* Allocate(uint64_t bytes);
  static void Release(void* block);
};

struct TwinTrial {
  TwinTrial(Form form, uint64_t rows, unsigned threads, uint64_t chunk_rows, uint64_t seed = 7);
  bool Collect(uint64_t horizon);
  EvaluationResult Evaluate(Evaluator::Policy policy);  // on a second instance, of 5 rows
  std::atomic<bool> cancelled{false};
  HostSinks sinks;
  std::unique_ptr<LoadedModule> module;
  std::unique_ptr<EnvInstance> env, evaluation_env;
  std::unique_ptr<LearnerInstance> learner;
  std::unique_ptr<RunnerPool> pool;
  std::unique_ptr<RolloutCollector> collector;
  std::vector<PhaseClock> clocks;
};

}  // namespace backplane::twin
