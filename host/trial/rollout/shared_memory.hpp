// Memory for rollout buffers that processes of this machine share: a file in memory. Each process binds the same channels in
// the same order, and so maps each buffer at the same place of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace backplane {

class SharedMemory {
 public:
  // The part of the file with the buffers in use.
  struct Block {
    uint64_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
    bool operator==(const Block&) const = default;
  };

  SharedMemory();                 // creates the file; the owner's side
  explicit SharedMemory(int fd);  // another process's side: owns the inherited descriptor; -1: none
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  int fd() const { return fd_; }  // -1: none
  bool owner() const { return owner_; }
  const Block& block() const { return block_; }            // empty: the buffers are in private memory
  const std::string& failure() const { return failure_; }  // why the owner has none

  // Selects the owner's block for the next buffers; an empty one leaves them in private memory. [another process]
  void Use(const Block& block) { block_ = block; }
  // Starts the buffers of a new block, and ends them. Then the owner frees all earlier blocks.
  void BeginBlock();
  void EndBlock();
  // The next buffer: whole pages, zeroed in the owner's process; munmap frees them. NULL: use private memory. Throws
  // TrialFailure in another process if the owner's block has no such buffer.
  std::byte* Map(uint64_t bytes);

 private:
  bool Grow(uint64_t from);
  void CheckEnd(bool fits) const;
  std::byte* Fail(int error);

  bool owner_ = false;
  int fd_ = -1;
  Block block_;
  uint64_t at_ = 0;  // end of the last buffer
  std::string failure_;
};

}  // namespace backplane
