// An env under test, in guarded buffers. Its actions depend only on seed, row and step, and it records all writes. Ended rows
// and their seeds are handled as in a trial.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"
#include "validate/guarded_block.hpp"
#include "validate/subject.hpp"

namespace backplane {

// Content of a buffer before the plugin writes.
enum class Poison { kFirst, kSecond };

struct EnvLayout {
  uint64_t rows = 4;
  uint64_t slots = 1;         // 1, or T + 1 for a rollout of T steps
  bool wide_strides = false;  // rows have gaps between them
  uint64_t first_key = 0;     // row r runs like row first_key + r of another env
  uint64_t action_key = 0;    // different numbers give different actions
  bool bare = false;          // the host offers no optional service
};

struct RowsRange {
  uint64_t begin, end;
};

class DrivenEnv {
 public:
  DrivenEnv(Subject& subject, const EnvLayout& layout);

  EnvInstance& env() { return *env_; }
  const EnvLayout& layout() const { return layout_; }
  uint64_t rows() const { return layout_.rows; }
  bool owns_time_limit() const { return (env_->flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0; }
  int64_t max_steps() const { return env_->spec().max_episode_steps; }

  // All throw TrialFailure unless the plugin returns BP_OK, and check the bytes around all buffers.
  void ResetAll() { Reset({0, rows()}, nullptr); }
  void Reset(RowsRange range, const uint8_t* mask);  // for the slot of the next step
  void Step(uint64_t t, RowsRange range);            // runs only this step
  // The host's part after a step: counts it and resets ended rows.
  void AfterStep(uint64_t t, RowsRange range);
  // Runs steps [from, to), each with its actions, the step of all `ranges` in turn, and resets. Records all writes.
  void Play(uint64_t from, uint64_t to, const std::vector<RowsRange>& ranges);
  void Play(uint64_t from, uint64_t to) { Play(from, to, {{0, rows()}}); }

  // Binds the buffers again, with frames longer than this version's.
  void BindAsNewer();

  void WriteActions(uint64_t t, RowsRange range);
  // Fills the outputs of a step for all rows; FillStates fills the outputs of a reset.
  void FillOutputs(uint64_t t, Poison poison);
  void FillStates(uint64_t slot, Poison poison);
  uint32_t SlotOf(uint64_t t) const;

  // Channel i of the spec in a slot; NULL if the slot lacks it.
  GuardedBlock* Block(uint64_t slot, size_t channel) const;
  std::byte* Row(uint64_t slot, size_t channel, uint64_t row) const;
  uint64_t RowBytes(size_t channel) const { return shapes_[channel].row_bytes; }    // all agents
  uint64_t RowStride(size_t channel) const { return shapes_[channel].row_stride; }  // bytes
  const std::vector<const bp_channel*>& channels() const { return env_->channels(); }
  std::optional<size_t> Index(uint16_t role) const;  // the first of that role
  // True if the env writes it, at each step or at resets.
  bool Writes(size_t channel) const;

  // Writes of steps and resets per row.
  const std::vector<std::byte>& record(uint64_t row) const { return records_[row]; }
  void ForgetRecords();
  // Continues the episode and step counts of a different env's rows.
  void CountAs(const DrivenEnv& other) { episodes_ = other.episodes_, steps_ = other.steps_; }
  void BeginAnew();  // the next reset starts each row's first episode again
  uint64_t episodes(uint64_t row) const { return episodes_[row]; }
  // The first difference of two records of a row: "step 3: channel 'obs', element 1: 0.5 and 0.25".
  std::optional<std::string> Difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const;
  std::string ElementText(size_t channel, const std::byte* row, uint64_t element) const;
  // "channel 'obs', element 1 of row 2"
  std::string PlaceText(size_t channel, uint64_t row, uint64_t element) const;

  // Checks every byte around the buffers. Ends the case as FAILED.
  void CheckGuards(const std::string& call) const;

 private:
  struct Shape {
    uint64_t lead, row_bytes, row_stride, elements;  // of a row; elements with all agents
  };
  struct BoundTensor {
    bp_tensor tensor{};
    std::vector<int64_t> shape, strides;
  };

  struct LongFrame {
    bp_frame now;
    uint64_t beyond[3];
  };

  void Allocate();
  void AddTensor(size_t channel, uint64_t slot, uint64_t entry);
  void NextSeeds();
  void WriteAction(size_t channel, uint64_t t, uint64_t row);
  void Record(uint64_t t, uint64_t row, bool states_alone);
  bool Ended(uint64_t t, uint64_t row) const;
  void ResetEnded(uint64_t t, RowsRange range);
  uint64_t SeedOf(uint64_t row) const;
  void CarryOver(uint64_t t);
  const std::byte* MaskOf(uint64_t t, uint64_t row, const bp_channel& action) const;

  Subject& subject_;
  const EnvLayout layout_;
  std::unique_ptr<EnvInstance> env_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<std::unique_ptr<GuardedBlock>>> blocks_;  // [channel][entry]
  std::vector<std::vector<GuardedBlock*>> seen_;                    // [slot][channel]
  std::deque<BoundTensor> tensors_;
  std::vector<std::vector<bp_tensor*>> lists_;  // [slot][channel]
  std::vector<bp_frame> frames_;
  std::vector<LongFrame> long_frames_;
  std::vector<uint64_t> episodes_, steps_, seeds_;
  std::vector<uint8_t> mask_;
  std::vector<std::vector<std::byte>> records_;
  uint64_t step_bytes_ = 0, state_bytes_ = 0;
};

// "rows [0, 4)"
std::string RangeText(RowsRange range);

}  // namespace backplane
