// Watches the first calls of a trial: a call on rows [begin, end) is to write those rows and nothing beside them. What stands
// right beside them, and what the call may only read, is kept before it and compared after it. The first steps of an instance's
// first iteration are checked, and nothing after that, so a trial pays for it once.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"

namespace backplane {

// A channel as one slot of a call sees it.
struct SlotChannel {
  ChannelBuffer* buffer;
  uint64_t entry;    // in time
  uint64_t per_row;  // entries of a row: 1, or its agents
};

// One call of a plugin on rows [begin, end). Nothing of a buffer on a device is kept, as the host does not see it.
class BoundsCheck {
 public:
  BoundsCheck(std::string plugin, const char* call, uint64_t begin, uint64_t end)
      : plugin_(std::move(plugin)), call_(call), begin_(begin), end_(end) {}
  // What stands beside the call's rows: a row on each side or, at the ends of an entry, what lies there.
  void Beside(const SlotChannel& channel);
  // Rows [begin, end) too, which the call may only read.
  void Rows(const SlotChannel& channel, uint64_t begin, uint64_t end);
  // Throws TrialFailure that names the plugin and the channel if something has changed. [the same thread as before]
  void Compare() const;

 private:
  struct Kept {
    SlotChannel channel;
    const std::byte* at;
    std::vector<std::byte> bytes;
  };
  void Keep(const SlotChannel& channel, const std::byte* from, const std::byte* to);
  [[noreturn]] void Refuse(const Kept& kept, uint64_t offset) const;

  std::string plugin_;
  const char* call_;
  uint64_t begin_, end_;
  std::vector<Kept> kept_;
};

// What a call reads and what it writes.
struct CallChannels {
  std::vector<SlotChannel> reads, writes;
};
// A call that is about to happen, checked.
BoundsCheck CheckBoundsOfCall(const std::string& plugin, const char* call, uint64_t begin, uint64_t end,
                              const CallChannels& channels);
// The same of a reset, which leaves rows alone whose mask is 0; NULL: none.
BoundsCheck CheckBoundsOfReset(const std::string& plugin, uint64_t begin, uint64_t end, const uint8_t* mask,
                               const CallChannels& channels);

// Who may call while a call is checked: nobody, as others write the rows beside it.
class BoundsCheckGate {
 public:
  static constexpr uint64_t kSteps = 16;  // of a chunk, or of all candidates, from the first one on

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
      if (!alone) turn_.unlock();  // else those that share would never let one in who wants to be alone
    }
    bool alone() const { return alone_; }  // to be checked

   private:
    std::unique_lock<std::mutex> turn_;
    std::unique_lock<std::shared_mutex> exclusive_;
    std::shared_lock<std::shared_mutex> shared_;
    bool alone_ = false;
  };

  explicit BoundsCheckGate(unsigned threads) : threads_(threads) {}

  bool on() const { return on_; }  // in the first iteration
  void TurnOff() { on_ = false; }  // [control]
  // Nothing to hold: a step that is not checked, and nobody else's can be.
  bool Passes(uint64_t steps_before) const { return threads_ < 2 && steps_before >= kSteps; }
  Turn Step(uint64_t steps_before) { return Turn(*this, steps_before < kSteps); }
  Turn Other() { return Turn(*this, false); }  // a call that is not checked

 private:
  const unsigned threads_;
  bool on_ = true;
  std::mutex turn_;
  std::shared_mutex calls_;
};

}  // namespace backplane
