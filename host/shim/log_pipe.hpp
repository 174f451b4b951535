// Writes a trial's output to a file: the beginning immediately, and the end, which explains a crash. If there is more, the
// middle is dropped, so a trial that prints without end does not fill the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/pipe.hpp"

namespace backplane {

struct LogBounds {
  uint64_t head_bytes = uint64_t{32} << 20;  // the file as it is while the trial runs
  size_t tail_bytes = size_t{4} << 20;       // the newest of the rest: in memory, appended by Finish
};

// [one thread]
class LogPipe {
 public:
  // `file` is open for appending, stays the caller's and has to outlive this. Throws std::runtime_error.
  explicit LogPipe(int file, LogBounds bounds = {});

  int writer() const { return pipe_.writer(); }
  void CloseWriter() { pipe_.CloseWriter(); }    // the process that prints has its own by now
  int reader() const { return pipe_.reader(); }  // to poll; -1: all writers are closed

  // Reads available output, or a part of it if there is much. Never waits for the writer, even if an unknown process keeps it
  // open. A full disk is not an error: the end is still kept.
  void Take();
  // Once what prints has ended: takes the rest and appends the end.
  void Finish();

 private:
  void TakeBlocks(size_t most);
  void Keep(std::string_view text);
  std::string Tail() const;

  const int file_;
  const LogBounds bounds_;
  Pipe pipe_;
  uint64_t head_left_bytes_;
  std::string ring_;            // the newest tail_bytes of what did not go into the file; wraps at ring_at_ once it is full
  size_t ring_at_ = 0;          // where the next byte goes, and so the oldest is, in a full ring
  uint64_t dropped_bytes_ = 0;  // overwritten in the ring
};

}  // namespace backplane
