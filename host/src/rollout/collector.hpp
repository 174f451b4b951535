// Collects rollouts: every runner thread takes chunks of rows and, for each step, lets the learner act, the env step, keeps the
// books and resets rows that ended. Nothing is copied, allocated or locked per step, and results depend on rows and chunks only,
// never on the number of threads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"
#include "rollout/moments.hpp"
#include "rollout/phases.hpp"
#include "rollout/pool.hpp"
#include "rollout/rows.hpp"

namespace backplane {

struct CollectorConfig {
  uint64_t chunk_rows = 16;
  uint64_t seed = 0;
};

// Rows [begin, end) and where they are in the current rollout.
struct alignas(64) Chunk {
  uint64_t begin = 0, end = 0, t = 0;
  unsigned owner = 0;
  bool taken = false;
  std::vector<Episode> episodes;
  std::vector<double> infos;           // backs Episode::info
  std::vector<uint64_t> final_index;   // t * rows + row
  AlignedBytes final_obs, final_state; // [final_index.size()] rows, in the same order
  Moments moments;
};

class Collector {
 public:
  // `beat` is called now and then from any runner: a sign of life.
  Collector(EnvInstance& env, LearnerInstance& learner, RunnerPool& pool, const CollectorConfig& config, const std::atomic<bool>& cancelled,
            std::function<void()> beat);

  // Makes and binds the buffers for rollouts of `horizon` steps; Collect does so itself when the horizon changes.
  void Prepare(uint64_t horizon) {
    if (horizon != horizon_) Bind(horizon);
  }
  // Runs `horizon` steps of every row. False if cancelled on the way; the rollout is then void. Throws TrialFailure.
  // clocks[i] belongs to runner i; clocks[0] is the caller's and runs already.
  bool Collect(uint64_t horizon, std::vector<PhaseClock>& clocks);

  // The last rollout for the learner; valid until the next Collect.
  bp_delivery Delivery();
  const std::vector<Episode>& episodes() const { return episodes_; }              // ended in the last rollout, by (t, row)
  const std::vector<std::string>& info_names() const { return info_names_; }      // "ep/..." channels
  uint64_t env_steps() const { return policy_steps_ * env_.rows(); }
  uint64_t policy_steps() const { return policy_steps_; }
  Rows& rows() { return rows_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  ChannelBuffer* Buffer(const std::string& name);  // NULL: no such channel

  // Goes on counting where another collector stopped, with new episodes in every row.
  void StartAfresh(std::vector<RowState> rows, uint64_t policy_steps) {
    rows_.state = std::move(rows);
    policy_steps_ = policy_steps;
  }
  // Where a trial goes on from: after the env's rows were restored, their current states come from `state_entries`, as saved.
  std::vector<std::byte> SaveStateEntries();
  void Restore(std::vector<RowState> rows, uint64_t policy_steps, const std::vector<std::byte>& state_entries, uint64_t horizon);

 private:
  void MakeChunks();
  void Bind(uint64_t horizon);
  void CarryStates(std::map<std::string, std::unique_ptr<ChannelBuffer>>& old, uint64_t old_horizon);
  void StartRollout(uint64_t horizon, PhaseClock& clock);
  Chunk* Take(unsigned thread);
  void GiveBack(Chunk* chunk);
  void RunChunks(unsigned thread, PhaseClock& clock);
  void StepChunk(Chunk& chunk, PhaseClock& clock);
  bool KeepBooks(Chunk& chunk);
  void EndEpisode(Chunk& chunk, uint64_t row);
  void MergeChunks();
  void GatherFinals(const ChannelBuffer* source, AlignedBytes Chunk::* from, AlignedBytes* out, Tensor* tensor);
  void Abort(std::exception_ptr failure);

  EnvInstance& env_;
  LearnerInstance& learner_;
  RunnerPool& pool_;
  CollectorConfig config_;
  const std::atomic<bool>& cancelled_;
  std::function<void()> beat_;

  Rows rows_;
  std::vector<Chunk> chunks_;
  uint64_t horizon_ = 0, policy_steps_ = 0;
  bool started_ = false;

  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<std::vector<bp_tensor*>> slot_tensors_;
  std::vector<bp_frame> frames_;
  std::vector<std::vector<bp_tensor*>> act_in_, act_out_;  // [t][channel]
  ChannelBuffer *obs_ = nullptr, *state_ = nullptr, *reward_ = nullptr, *terminated_ = nullptr, *truncated_ = nullptr;
  std::vector<ChannelBuffer*> infos_;
  std::vector<std::string> info_names_;
  uint64_t reward_per_row_ = 1, obs_lead_ = 1, state_lead_ = 1;
  int64_t time_limit_ = 0;
  bool wants_moments_ = false;

  std::mutex mutex_;
  std::atomic<bool> abort_{false};
  std::exception_ptr failure_;

  std::vector<Episode> episodes_;
  std::vector<std::pair<uint64_t, std::pair<const Chunk*, uint64_t>>> finals_;  // index -> (chunk, place in it), ascending
  AlignedBytes final_obs_data_, final_state_data_;
  std::vector<int64_t> final_index_;
  Tensor final_obs_, final_state_, final_index_tensor_, moment_count_, moment_mean_, moment_m2_;
  Moments moments_;
  std::vector<const char*> delivery_names_;
  std::vector<bp_tensor*> delivery_tensors_;
};

}  // namespace backplane
