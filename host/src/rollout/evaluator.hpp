// Plays whole episodes on an env instance of its own, bound to one slot, with seeds of its own. Used for evaluation and for the
// floor: what zero actions earn on the same seeds.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"
#include "rollout/phases.hpp"
#include "rollout/pool.hpp"
#include "rollout/rows.hpp"

namespace backplane {

struct EvaluationResult {
  std::vector<double> returns;                         // by episode
  std::vector<double> lengths;
  std::map<std::string, std::vector<double>> infos;    // "ep/..." -> by episode
};

class Evaluator {
 public:
  // The instance's rows are its episodes: row r plays episode r.
  Evaluator(EnvInstance& env, LearnerInstance& learner, RunnerPool& pool, uint64_t chunk_rows, uint64_t seed,
            const std::atomic<bool>& cancelled, std::function<void()> beat);

  // GREEDY actions of the learner. Throws TrialFailure (BP_E_CANCELLED when cancelled).
  // clocks[i > 0] of the other runners count the time as Phase::kEval; clocks[0] is the caller's own business.
  EvaluationResult Learner(std::vector<PhaseClock>& clocks) { return Play(true, clocks); }
  // Zero actions, moved into the bounds of a box.
  EvaluationResult Floor(std::vector<PhaseClock>& clocks) { return Play(false, clocks); }

 private:
  EvaluationResult Play(bool greedy, std::vector<PhaseClock>& clocks);
  void PlayChunk(uint64_t begin, uint64_t end, bool greedy, EvaluationResult* out);
  void ZeroActions();

  EnvInstance& env_;
  LearnerInstance& learner_;
  RunnerPool& pool_;
  uint64_t chunk_rows_, seed_;
  const std::atomic<bool>& cancelled_;
  std::function<void()> beat_;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<bp_tensor*> tensors_, act_in_, act_out_;
  std::vector<bp_frame> frames_;
};

}  // namespace backplane
