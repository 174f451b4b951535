// A small env and learner in plain ABI, inside the test program; every output can be computed by hand.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "rollout/evaluator.hpp"
#include "rollout/rollout_collector.hpp"

namespace backplane::toy {

// Env: obs[0] = row, obs[1] = steps in this episode, obs[2] = noise of the episode's seed. Ends with probability 1/8 per step,
// is cut at 20 steps, pays its action, and fails if stepped past its end. INFO "ep/steps" repeats the steps.
inline constexpr int64_t kTimeLimit = 20;
// With its own time limit, it cuts row r at so many steps.
constexpr int64_t OwnLimit(uint64_t row) { return 3 + static_cast<int64_t>(row % 2); }
// Learner: action = 0.5 * obs[2] + noise; EXTRA "twice" = 2 * action. Candidate c acts with 0.5 * (c + 1) * obs[2]. With a
// memory, CARRY "count" int32 = steps in this episode, so "count" = obs[1], and in GREEDY action = count.

struct NanPlace {
  uint64_t row;
  uint32_t slot;  // the step that writes it, from 0
  int element;
};

struct Switches {
  std::atomic<int> fail_step{-1};                // the row whose step returns an error
  std::atomic<int> nan_row{-1};                  // the row whose reward is NaN
  std::optional<NanPlace> nan_obs;               // the place of an observation that is NaN
  void (*on_step)() = nullptr;                   // called at the start of every step
  std::optional<int64_t> nan_from;               // steps into an episode from which obs[2] is NaN
  bool nan_steps = false;                        // obs[1] is NaN in every step
  void (*on_act)(const bp_act& act) = nullptr;   // called at the start of every act
  bool rows_alike = false;                       // obs[0] = 0 in the next env
  bool row_exact = false;                        // of the next learner; if false, its actions depend on the size of the range
  const char* keep = nullptr;                    // one more channel that the next learner keeps
  bool carries = false;                          // the next learner has a memory
  bool owns_time_limit = false;                  // if true, the next env owns its time limit
  bool whole = false;                            // if true, the next env accepts only calls for all rows
  bool endless = false;                          // if true, the next env ends no episode and declares no limit
  int64_t declares = 0;                          // steps declared by an env with its own time limit, or by an endless one
  uint8_t cut_flag = 1;                          // the flag that it writes to cut
  void (*edit)(bp_channel* channels) = nullptr;  // edits the channels of the next env
};
extern Switches g_switches;

// While it lives, the next env ends no episode.
struct Endless {
  explicit Endless(bool owns_time_limit = false, int64_t declares = 0) {
    g_switches.endless = true, g_switches.owns_time_limit = owns_time_limit, g_switches.declares = declares;
  }
  ~Endless() { g_switches.endless = g_switches.owns_time_limit = false, g_switches.declares = 0; }
  Endless(const Endless&) = delete;
};

const bp_module& Module();

struct ToyTrial {
  explicit ToyTrial(uint64_t rows, unsigned threads, uint64_t chunk_rows = 4, uint64_t seed = 7,
                    SharedMemory* shared = nullptr);
  std::atomic<bool> cancelled{false};
  std::atomic<int> beats{0};  // signs of life of the collector
  HostSinks sinks;
  std::unique_ptr<LoadedModule> module;
  std::unique_ptr<EnvInstance> env;
  std::unique_ptr<LearnerInstance> learner;
  std::unique_ptr<RunnerPool> pool;
  std::unique_ptr<RolloutCollector> collector;
  std::vector<PhaseClock> clocks;
  bool Collect(uint64_t horizon);
};

}  // namespace backplane::toy
