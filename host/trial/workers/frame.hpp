// What a trial and its workers send to each other: frames of a kind and bytes, over any stream. Neither side trusts what comes:
// a frame has a size that is bounded and a hash of what it holds.
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
  kReady,      // worker: Ready, what its learner plans
  kJobs,       // trial: JobList, to be played
  kScore,      // worker: Score, of one job
  kBeat,       // worker: it is at work
  kEndTurn,    // trial: no more jobs come in this turn
  kDone,       // worker: Done, how its time went
  kFailed,     // worker: Failed, and it ends
};

struct Frame {
  FrameKind kind = FrameKind::kBeat;
  std::vector<std::byte> body;
};

// What came is no frame.
class FrameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr uint64_t kMostFrameBytes = uint64_t{1} << 32;

std::vector<std::byte> BytesOf(const Frame& frame);

// Cuts what comes in pieces into frames.
class FrameReader {
 public:
  void Add(const std::byte* data, size_t size) { bytes_.insert(bytes_.end(), data, data + size); }
  // Absent: it has not come whole yet. Throws FrameError.
  std::optional<Frame> Next();

 private:
  std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

// Sends all of it, waiting for room. False: the other side is gone.
bool SendAll(int fd, const std::vector<std::byte>& bytes);
// Sends as much as fits, without waiting. Returns the number of bytes. Absent: the other side is gone.
std::optional<size_t> SendSome(int fd, const std::vector<std::byte>& bytes);

enum class Received { kSome, kNothing, kEnd };
// Takes what is there, without waiting unless `wait`. kEnd: the other side is gone.
Received ReceiveInto(int fd, bool wait, FrameReader* reader);

}  // namespace backplane
