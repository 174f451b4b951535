// The messages in the frames between a trial and its workers. Both run the same program, so numbers travel in their memory
// format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "rollout/candidate_scores.hpp"
#include "rollout/chunk_share.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/rollout_part.hpp"
#include "workers/frame.hpp"

namespace backplane {

inline constexpr uint32_t kWorkerProtocol = 5;

// A worker has started.
struct Hello {
  static constexpr FrameKind kKind = FrameKind::kHello;
  uint32_t protocol = kWorkerProtocol;
  std::string token;     // given to the worker; empty: none required
  std::string trial_id;  // its trial
  uint64_t number = 0;   // within the trial, from 1
  uint64_t threads = 1, rows = 1;
  std::string processor;  // ProcessorOfThis

  static void Fields(auto& self, auto&& visit) {
    visit(self.protocol), visit(self.token), visit(self.trial_id), visit(self.number);
    visit(self.threads), visit(self.rows), visit(self.processor);
  }
};

// The properties of this machine that affect rounding: CPU flags and the version of the C library.
std::string ProcessorOfThis();

// An evaluation begins. Contains the state of the trial's learner before its plan.
struct Turn {
  static constexpr FrameKind kKind = FrameKind::kTurn;
  uint64_t number = 0;  // from 1
  uint64_t most = 1;    // maximum number of rows that a thread plays together
  bp_limits limits{};
  std::vector<std::byte> state;

  static void Fields(auto& self, auto&& visit) { visit(self.number), visit(self.most), visit(self.limits), visit(self.state); }
};

// A learner's request in a form that is short enough to compare.
struct RequestDigest {
  uint64_t kind = 0, candidates = 0, episodes_each = 0, chunk = 0, max_steps = 0, seeds = 0;  // seeds: their hash
  bool operator==(const RequestDigest&) const = default;
};
RequestDigest DigestOf(const bp_request& request);  // of a checked request, if it is EVALUATE
std::string ToText(const RequestDigest& digest);

struct Ready {
  static constexpr FrameKind kKind = FrameKind::kReady;
  uint64_t turn = 0;
  RequestDigest request;

  static void Fields(auto& self, auto&& visit) { visit(self.turn), visit(self.request); }
};

struct JobList {
  static constexpr FrameKind kKind = FrameKind::kJobs;
  std::vector<uint64_t> jobs;

  static void Fields(auto& self, auto&& visit) { visit(self.jobs); }
};

struct Score {
  static constexpr FrameKind kKind = FrameKind::kScore;
  uint64_t turn = 0, job = 0;
  JobScore score;

  static void Fields(auto& self, auto&& visit) {
    visit(self.turn), visit(self.job), visit(self.score.fitness), visit(self.score.length);
    visit(self.score.own_length), visit(self.score.infos), visit(self.score.moments);
  }
};

// The state of a chunk's rows, for the next RolloutOrder.
struct StartMessage {
  static constexpr FrameKind kKind = FrameKind::kStart;
  ChunkStart start;

  static void Fields(auto& self, auto&& visit) { ChunkStart::Fields(self.start, visit); }
};

// Chunks of a rollout or of one part. A chunk without a StartMessage continues from the worker's last rollout.
struct RolloutOrder {
  static constexpr FrameKind kKind = FrameKind::kRollout;
  uint64_t number = 0, policy_steps = 0;
  RolloutPart part;
  uint8_t whole = 0;   // 1: `state` is the learner's state before a plan with `limits`; 0: its policy
  bp_limits limits{};  // only used with a whole state
  std::vector<std::byte> state;
  SharedMemory::Block shared;  // the trial's rollout buffers
  std::vector<uint64_t> chunks;

  static void Fields(auto& self, auto&& visit) {
    visit(self.number), visit(self.policy_steps), visit(self.part), visit(self.whole), visit(self.limits);
    visit(self.state), visit(self.shared), visit(self.chunks);
  }
};

struct PlayedChunk {
  static constexpr FrameKind kKind = FrameKind::kPlayed;
  uint64_t turn = 0;
  ChunkPlayed played;

  static void Fields(auto& self, auto&& visit) { visit(self.turn), ChunkPlayed::Fields(self.played, visit); }
};

// The use of the worker's threads in a turn.
struct Done {
  static constexpr FrameKind kKind = FrameKind::kDone;
  uint64_t turn = 0;
  PhaseSums phases;
  double cpu_s = 0, most_cpu_s = 0;  // of all threads while they played, and of the busiest one

  static void Fields(auto& self, auto&& visit) {
    visit(self.turn), visit(self.phases), visit(self.cpu_s), visit(self.most_cpu_s);
  }
};

// The worker has failed, and the trial would fail in the same way.
struct Failed {
  static constexpr FrameKind kKind = FrameKind::kFailed;
  bp_status status = BP_OK;  // BP_OK: no plugin is at fault
  std::string plugin, text;

  static void Fields(auto& self, auto&& visit) { visit(self.status), visit(self.plugin), visit(self.text); }
};

namespace message_detail {

struct Put {
  std::vector<std::byte>* out;
  void Raw(const void* data, size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    out->insert(out->end(), from, from + size);
  }
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Raw(&value, sizeof value);
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    (*this)(static_cast<uint64_t>(items.size()));
    if (!items.empty()) Raw(items.data(), items.size() * sizeof(T));
  }
  void operator()(const std::string& text) { (*this)(std::vector<char>(text.begin(), text.end())); }
};

// Throws FrameError if the body ends too early.
struct Take {
  const std::vector<std::byte>& body;
  size_t at = 0;
  void Raw(void* out, size_t size);
  uint64_t Count(size_t each);  // number of items of so many bytes
  void CheckEnd() const;
  template <class T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Raw(&value, sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    items.resize(Count(sizeof(T)));
    if (!items.empty()) Raw(items.data(), items.size() * sizeof(T));
  }
  void operator()(std::string& text) {
    std::vector<char> letters;
    (*this)(letters);
    text.assign(letters.begin(), letters.end());
  }
};

}  // namespace message_detail

// The bytes of a frame with this message.
template <class Message>
std::vector<std::byte> ToBytes(const Message& message) {
  Frame frame{Message::kKind, {}};
  Message::Fields(message, message_detail::Put{&frame.body});
  return BytesOf(frame);
}

// The message of a frame of its kind. Throws FrameError if the body has a different format.
template <class Message>
Message MessageOf(const Frame& frame) {
  Message message;
  message_detail::Take take{frame.body};
  Message::Fields(message, take);
  take.CheckEnd();
  return message;
}

}  // namespace backplane
