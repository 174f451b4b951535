// The worker's side of its stream: a thread reads messages and passes them on immediately, even while jobs are played.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "rollout/candidate_scorer.hpp"
#include "workers/messages.hpp"

namespace backplane {

inline constexpr char kWorkerTokenVariable[] = "BACKPLANE_WORKER_TOKEN";

class Mailbox {
 public:
  // Starts to read. If the trial is gone or sends invalid data, the process ends, because there is nothing to save.
  explicit Mailbox(int fd);
  Mailbox(const Mailbox&) = delete;

  template <class Message>
  void Send(const Message& message) {  // [any]
    SendBytes(ToBytes(message));
  }
  void SendBeat() { SendBytes(BytesOf({FrameKind::kBeat, {}})); }
  // The work of a turn: an evaluation of candidates, or chunks of a rollout with the states of some.
  struct GivenRollout {
    RolloutOrder order;
    std::vector<ChunkStart> starts;
  };
  using Work = std::variant<Turn, GivenRollout>;
  // Waits for the next turn.
  Work NextTurn();
  // Passes jobs, and their end, to `scorer`, which has begun its turn. Call it before Ready is sent.
  void DeliverTo(CandidateScorer* scorer);

 private:
  [[noreturn]] void Read();
  void Take(const Frame& frame);
  void SendBytes(const std::vector<std::byte>& bytes);

  const int fd_;
  std::mutex sending_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::optional<Work> work_;
  std::vector<ChunkStart> starts_;  // of the next rollout
  CandidateScorer* scorer_ = nullptr;
};

}  // namespace backplane
