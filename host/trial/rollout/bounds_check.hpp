// Checks in the first calls of a trial that a call on rows [begin, end) writes only those rows. Copies the neighbouring bytes
// and read-only data before the call and compares them after it. Only the first steps of an instance's first iteration are
// checked, so a trial pays for it once.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "rollout/buffers.hpp"

namespace backplane {

// A channel in one slot of a call.
struct SlotChannel {
  ChannelBuffer* buffer;
  uint64_t entry;    // in time
  uint64_t per_row;  // entries per row: 1, or its agents
};

// One call of a plugin on rows [begin, end). Skips buffers on a device, which the host cannot read.
class BoundsCheck {
 public:
  BoundsCheck(std::string plugin, const char* call, uint64_t begin, uint64_t end)
      : plugin_(std::move(plugin)), call_(call), begin_(begin), end_(end) {}
  // The call writes its rows of this channel. Comes first: the entry after the one that `act` reads of a memory may be
  // adjacent.
  void Writes(const SlotChannel& channel);
  // Keeps the neighbours of the call's rows: a row on each side, or the guard at the ends of an entry.
  void Beside(const SlotChannel& channel);
  // Keeps rows [begin, end), which the call may only read.
  void Rows(const SlotChannel& channel, uint64_t begin, uint64_t end);
  // Throws TrialFailure with the plugin and the channel if a byte has changed. [the same thread as before]
  void Compare() const;

 private:
  struct Kept {
    SlotChannel channel;
    const std::byte* at;
    std::vector<std::byte> bytes;
  };
  void Keep(const SlotChannel& channel, const std::byte* from, const std::byte* to);
  // Keeps neighbours, except for rows that the call writes.
  void KeepUnwritten(const SlotChannel& channel, const std::byte* from, const std::byte* to);
  [[noreturn]] void Refuse(const Kept& kept, uint64_t offset) const;

  std::string plugin_;
  const char* call_;
  uint64_t begin_, end_;
  std::vector<std::pair<const std::byte*, const std::byte*>> written_;
  std::vector<Kept> kept_;
};

// The channels that a call reads and those that it writes.
struct CallChannels {
  std::vector<SlotChannel> reads, writes;
};
// Prepares the check of a call. Call it right before.
BoundsCheck CheckBoundsOfCall(const std::string& plugin, const char* call, uint64_t begin, uint64_t end,
                              const CallChannels& channels);
// The same for a reset, which must not write rows whose mask is 0; NULL: no mask.
BoundsCheck CheckBoundsOfReset(const std::string& plugin, uint64_t begin, uint64_t end, const uint8_t* mask,
                               const CallChannels& channels);

// Excludes all other calls during a checked call, because they write the neighbouring rows.
class BoundsCheckGate {
 public:
  static constexpr uint64_t kSteps = 16;  // of a chunk, or of all candidates, counted from the first

  // Held through one step with all its calls. [rows]
  class Turn {
   public:
    Turn() = default;
    Turn(BoundsCheckGate& gate, bool alone) : alone_(alone) {
      if (gate.threads_ < 2) return;
      turn_ = std::unique_lock(gate.turn_);
      if (alone)
        exclusive_ = std::unique_lock(gate.calls_);
      else
        shared_ = std::shared_lock(gate.calls_);
      if (!alone) turn_.unlock();  // otherwise sharers would starve an exclusive one
    }
    bool alone() const { return alone_; }  // true: check the calls

   private:
    std::unique_lock<std::mutex> turn_;
    std::unique_lock<std::shared_mutex> exclusive_;
    std::shared_lock<std::shared_mutex> shared_;
    bool alone_ = false;
  };

  explicit BoundsCheckGate(unsigned threads) : threads_(threads) {}

  bool on() const { return on_; }  // in the first iteration
  void TurnOff() { on_ = false; }  // [control]
  // True if no lock is needed: the step is unchecked, and no other thread can have a checked one.
  bool Passes(uint64_t steps_before) const { return threads_ < 2 && steps_before >= kSteps; }
  Turn Step(uint64_t steps_before) { return Turn(*this, steps_before < kSteps); }
  Turn Other() { return Turn(*this, false); }  // for an unchecked call

 private:
  const unsigned threads_;
  bool on_ = true;
  std::mutex turn_;
  std::shared_mutex calls_;
};

}  // namespace backplane
