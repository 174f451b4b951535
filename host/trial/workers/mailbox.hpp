// The worker's side of its stream: a thread reads what the trial sends and hands it on at once, also while jobs are played.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "rollout/candidate_scorer.hpp"
#include "workers/messages.hpp"

namespace backplane {

inline constexpr char kWorkerTokenVariable[] = "BACKPLANE_WORKER_TOKEN";

class Mailbox {
 public:
  // Starts to read. When the trial is gone, or sends what it should not, the process ends: there is nothing to save.
  explicit Mailbox(int fd);
  Mailbox(const Mailbox&) = delete;

  template <class Message>
  void Send(const Message& message) {  // [any]
    SendBytes(ToBytes(message));
  }
  void SendBeat() { SendBytes(BytesOf({FrameKind::kBeat, {}})); }
  // Waits for the next one.
  std::optional<Turn> NextTurn();
  // Jobs, and their end, go to `scorer`, which has begun its turn. Before the trial is told that it has.
  void DeliverTo(CandidateScorer* scorer);

 private:
  [[noreturn]] void Read();
  void Take(const Frame& frame);
  void SendBytes(const std::vector<std::byte>& bytes);

  const int fd_;
  std::mutex sending_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::optional<Turn> turn_;
  CandidateScorer* scorer_ = nullptr;
};

}  // namespace backplane
