#include "shim/log_pipe.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace backplane {
namespace {

// The trial continues to print into it during writes to a slow disk. Unprivileged users get no larger pipe.
constexpr int kPipeBytes = 1 << 20;
constexpr size_t kBlocksAtOnce = 16;

uint64_t SizeOf(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? static_cast<uint64_t>(file.st_size) : 0;
}

}  // namespace

LogPipe::LogPipe(int file, LogBounds bounds)
    : file_(file),
      bounds_(bounds),
      pipe_(Pipe::Read::kReturns, kPipeBytes),
      head_left_bytes_(bounds.head_bytes - std::min(bounds.head_bytes, SizeOf(file))) {}

void LogPipe::Take() { TakeBlocks(kBlocksAtOnce); }

void LogPipe::Finish() {
  CloseWriter();
  // An unreachable process may keep printing, so only one pipe's worth is read.
  TakeBlocks(2 * kPipeBytes / Pipe::kBlockBytes);
  WriteWhole(file_, Tail());
  ring_.clear();
}

void LogPipe::TakeBlocks(size_t most) {
  pipe_.Take(most, [this](std::string_view block) {
    const std::string_view wanted = block.substr(0, static_cast<size_t>(std::min<uint64_t>(block.size(), head_left_bytes_)));
    const size_t written = WriteWhole(file_, wanted);
    // After a gap nothing more goes into the beginning: the file would pretend to be whole.
    head_left_bytes_ = written < wanted.size() ? 0 : head_left_bytes_ - written;
    Keep(block.substr(written));
  });
}

void LogPipe::Keep(std::string_view text) {
  const size_t size = text.size(), grown = std::min(size, bounds_.tail_bytes - ring_.size());
  ring_.append(text.substr(0, grown));
  dropped_bytes_ += size - grown;
  for (size_t done = grown; done < size;) {
    const size_t part = std::min(size - done, ring_.size() - ring_at_);
    std::memcpy(ring_.data() + ring_at_, text.data() + done, part);
    ring_at_ = (ring_at_ + part) % ring_.size();
    done += part;
  }
}

// Whole lines, after a sentence if something is missing before them.
std::string LogPipe::Tail() const {
  std::string tail = ring_.substr(ring_at_) + ring_.substr(0, ring_at_);
  if (dropped_bytes_ == 0) {
    return tail;
  }
  const size_t line_end = tail.find('\n');
  const size_t cut = line_end == std::string::npos ? 0 : line_end + 1;
  return "\n[backplane: " + std::to_string(dropped_bytes_ + cut) + " bytes omitted here]\n" + tail.substr(cut);
}

}  // namespace backplane
