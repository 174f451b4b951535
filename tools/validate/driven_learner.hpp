// A learner under test, driven by the host's own collectors in an env of the validator or the user.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backplane/ext/tensors.h"
#include "data/data_loader.hpp"
#include "rollout/candidate_scorer.hpp"
#include "rollout/pool.hpp"
#include "rollout/rollout_collector.hpp"
#include "rollout/slot_buffers.hpp"
#include "validate/driven_env.hpp"
#include "validate/part_copies.hpp"
#include "validate/subject.hpp"

namespace backplane {

// In the learner's limits. kNearEnd: every limit is set and nearly reached.
enum class DrivenBudget { kIterations = 1, kNearEnd };

struct LearnerLayout {
  uint64_t rows = 8, chunk_rows = 4;
  unsigned threads = 1;
  bool bare = false;             // the host offers no optional service
  bool spoils_parts = false;     // overwrites each part of a rollout after its consume
  bool constant_reward = false;  // all its rewards and fitness values are 1
  uint64_t micro_batch = 0;      // most items of a group per call; 0: as requested by the learner
  DrivenBudget budget = DrivenBudget::kIterations;
};

class DrivenLearner {
 public:
  DrivenLearner(Subject& subject, const LearnerLayout& layout);

  LearnerInstance& learner() { return *learner_; }
  // Serves requests until that many more iterations, ticks included, are complete or the learner is done. Throws TrialFailure.
  void Train(uint64_t iterations);
  bool done() const { return done_; }
  // Gives a data learner only the first of two micro-batches of a group of `items`.
  void BreakOffGroup();
  // A made-up group, to test if it fits.
  void Probe();
  // Mean return of a step, an episode or an item in the last iteration. Absent: unknown.
  std::optional<double> earned() const { return earned_; }
  uint64_t ticks() const { return ticks_; }
  uint32_t collected() const { return collected_; }  // BP_REQ_* of the last iteration; 0: none yet
  uint64_t env_steps() const { return env_steps_; }
  bool took_parts() const { return took_parts_; }

  // Bytes for comparisons: its saved state, else the greedy actions of its rows.
  std::vector<std::byte> record();
  // Absent if it has no state.
  std::optional<std::vector<std::byte>> Saved();
  // `of`: the learner that saved it, whose files (ext/file.h) come along as in a trial that resumes; NULL: none.
  void Load(const std::vector<std::byte>& saved, const DrivenLearner* of = nullptr);
  // Valid until its next call. Absent if it offers none.
  std::optional<bp_named_tensors> Tensors();
  // Drops running episodes and continues the other learner's episode count.
  void Interrupt();
  void GoOnAs(DrivenLearner& other);

  // Only for `act`: an env after a reset of all rows, in its own slot.
  uint64_t rows() const { return layout_.rows; }
  void Act(RowsRange range, uint32_t flags, uint64_t step);
  // For a learner with a memory (CARRY): acts for some steps, each with the memory of the last one. Otherwise does nothing.
  void FillMemory();
  bool has_memory() const { return !learner_->carry().empty(); }
  void Remember() { slot_->Advance(0, rows()); }  // makes the memory that `act` wrote its next input
  // Bytes that act wrote for a row, and its channels one by one.
  std::vector<std::byte> ActedBytes(uint64_t row);
  ChannelBuffer& Buffer(const std::string& name) { return (*slot_)[name]; }  // that `act` reads
  ChannelBuffer& Output(const std::string& name) { return slot_->Written(name); }
  // Bytes of a row in a channel, for all its agents.
  std::byte* RowOf(ChannelBuffer& buffer, uint64_t row) { return buffer.row(0, row * (buffer.lead() / layout_.rows)); }
  uint64_t RowBytesOf(const ChannelBuffer& buffer) const { return buffer.row_bytes() * (buffer.lead() / layout_.rows); }
  void CheckGuards() const { slot_->CheckGuards(); }

 private:
  bp_limits LimitsNow() const;
  void Serve(bp_request request);
  void ServeRollout(const bp_request& request);
  bp_request PlanData();
  RolloutCollector& Collector();
  CandidateScorer& Scorer();
  DataLoader& Loader();

  Subject& subject_;
  const LearnerLayout layout_;
  std::atomic<bool> cancelled_{false};
  std::unique_ptr<EnvInstance> env_, act_env_;
  std::unique_ptr<LearnerInstance> learner_;
  RunnerPool pool_;
  std::vector<PhaseClock> clocks_;
  std::unique_ptr<RolloutCollector> collector_;
  std::unique_ptr<CandidateScorer> scorer_;
  std::unique_ptr<DataLoader> loader_;
  std::unique_ptr<SlotBuffers> slot_;
  uint64_t iterations_ = 0, ticks_ = 0, env_steps_ = 0;
  uint32_t collected_ = 0;
  bool done_ = false, took_parts_ = false;
  PartCopies copies_;
  uint64_t micro_batches_left_ = UINT64_MAX;  // until the loader must stop
  std::optional<double> earned_;
};

// Ends the case as SKIPPED if the learner has no state.
std::vector<std::byte> NeedSaved(DrivenLearner& learner);

}  // namespace backplane
