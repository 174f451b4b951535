// The physical limit of a MuJoCo task: a bare loop of mj_step replays a plugin's recorded states, controls and resets. Works
// for every env plugin with an option frame_skip whose row snapshots begin with the vector mjSTATE_INTEGRATION (after the
// layer's key and random stream). So it links no task's source.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

#include "support/rollout_host.hpp"

namespace backplane::bench {

using test_support::Host, test_support::Setting;

struct Trace {
  struct Restart {
    uint64_t t;
    std::vector<mjtNum> state;
  };
  std::shared_ptr<const mjModel> model;  // a copy: the plugin's dies with its instance
  uint64_t rows = 0, chunk_rows = 1, horizon = 0;
  int frame_skip = 1;
  std::vector<std::vector<mjtNum>> start, end;  // [rows], mjSTATE_INTEGRATION
  std::vector<std::vector<Restart>> restarts;   // [rows], by t
  std::vector<float> controls;                  // [horizon, rows, nu]
};

// Runs setting.horizon steps of all rows, one rollout per step, and records the inputs of the physics.
Trace Record(const Setting& setting);

// The states of all rows now. Throws std::runtime_error if the plugin's snapshots are too short to hold one.
std::vector<std::vector<mjtNum>> States(Host& host);

class Replay {
 public:
  explicit Replay(const Trace& trace);
  ~Replay();
  Replay(const Replay&) = delete;
  // mj_step and resets only; `threads` threads get equal blocks of rows.
  void Run(unsigned threads);
  // True if every row ended bit for bit like the plugin's.
  bool EndsAsRecorded() const;

 private:
  void RunRows(uint64_t begin, uint64_t end);
  void StepRow(uint64_t t, uint64_t r);
  void Restart(uint64_t r, const std::vector<mjtNum>& state);

  const Trace& trace_;
  const mjModel* model_;
  std::vector<mjData*> data_;
};

// The libmujoco of this process: {"version", "file"}.
nlohmann::json MuJoCoFacts();

}  // namespace backplane::bench
