// The frames between a trial and its workers: a kind and bytes, over any stream. Neither side trusts the other: a frame has a
// bounded size and a hash of its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace backplane {

enum class FrameKind : uint32_t {
  kHello = 1,  // worker: Hello, once
  kTurn,       // trial: Turn, an evaluation begins
  kReady,      // worker: Ready, its learner's plan
  kJobs,       // trial: JobList, jobs to play
  kScore,      // worker: Score of one job
  kBeat,       // worker: it is working
  kEndTurn,    // trial: no more jobs in this turn
  kDone,       // worker: Done, the use of its time
  kFailed,     // worker: Failed, then it ends
  kStart,      // trial: ChunkStart, before the kRollout that lists its chunk
  kRollout,    // trial: RolloutOrder, chunks of a rollout to play
  kPlayed,     // worker: PlayedChunk, one of them; after the last one comes kDone
};

struct Frame {
  FrameKind kind = FrameKind::kBeat;
  std::vector<std::byte> body;
};

// The bytes are no valid frame.
class FrameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr uint64_t kMostFrameBytes = uint64_t{1} << 32;

std::vector<std::byte> BytesOf(const Frame& frame);

// Splits a stream of bytes into frames.
class FrameReader {
 public:
  void Add(const std::byte* data, size_t size) { bytes_.insert(bytes_.end(), data, data + size); }
  // Absent: it is incomplete. Throws FrameError.
  std::optional<Frame> Next();

 private:
  std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

// Sends all bytes and waits for room. False: the other side is gone.
bool SendAll(int fd, const std::vector<std::byte>& bytes);
// Sends as much as fits, without waiting. Returns the number of bytes. Absent: the other side is gone.
std::optional<size_t> SendSome(int fd, const std::vector<std::byte>& bytes);

enum class Received { kSome, kNothing, kEnd };
// Receives available bytes; blocks only if `wait`. kEnd: the other side is gone.
Received ReceiveInto(int fd, bool wait, FrameReader* reader);

}  // namespace backplane
