#include "workers/mailbox.hpp"

#include <unistd.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "base/error_words.hpp"

namespace backplane {
namespace {

[[noreturn]] void Leave(const char* why) {
  if (*why != '\0') std::fprintf(stderr, "worker: %s\n", why);
  std::fflush(nullptr);
  _exit(*why != '\0' ? 1 : 0);
}

}  // namespace

Mailbox::Mailbox(int fd) : fd_(fd) {
  std::thread([this] { Read(); }).detach();
}

void Mailbox::Read() {
  FrameReader reader;
  try {
    for (;;) {
      while (const std::optional<Frame> frame = reader.Next()) Take(*frame);
      if (ReceiveInto(fd_, true, &reader) == Received::kEnd) Leave("");
    }
  } catch (const std::exception& e) {
    Leave(WordsOf(e).c_str());
  }
}

void Mailbox::Take(const Frame& frame) {
  const std::lock_guard lock(mutex_);
  switch (frame.kind) {
    case FrameKind::kTurn:
      work_ = MessageOf<Turn>(frame);
      changed_.notify_one();
      return;
    case FrameKind::kStart: starts_.push_back(MessageOf<StartMessage>(frame).start); return;
    case FrameKind::kRollout:
      work_ = GivenRollout{MessageOf<RolloutOrder>(frame), std::exchange(starts_, {})};
      changed_.notify_one();
      return;
    case FrameKind::kJobs:
      if (scorer_ == nullptr || !scorer_->Give(MessageOf<JobList>(frame).jobs)) throw FrameError("it received unknown jobs");
      return;
    case FrameKind::kEndTurn:
      if (scorer_ == nullptr) throw FrameError("a turn ended before it began");
      std::exchange(scorer_, nullptr)->CloseJobs();
      return;
    default:
      throw FrameError("expected a message that a trial sends, got one of kind " +
                       std::to_string(static_cast<uint32_t>(frame.kind)));
  }
}

Mailbox::Work Mailbox::NextTurn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.has_value(); });
  return *std::exchange(work_, std::nullopt);
}

void Mailbox::DeliverTo(CandidateScorer* scorer) {
  const std::lock_guard lock(mutex_);
  scorer_ = scorer;
}

void Mailbox::SendBytes(const std::vector<std::byte>& bytes) {
  const std::lock_guard lock(sending_);
  if (!SendAll(fd_, bytes)) Leave("");
}

}  // namespace backplane
