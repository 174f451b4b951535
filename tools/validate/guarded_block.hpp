// Memory that a plugin writes, between bytes that it may not touch: a page before it and one behind it that nobody can touch,
// and up to there bytes whose change is found afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

class GuardedBlock {
 public:
  // `name` is told where something is found: "channel 'obs'". The memory is aligned to 64 bytes and ends less than 64 bytes
  // before the page behind it. Throws std::bad_alloc.
  GuardedBlock(std::string name, uint64_t bytes);
  ~GuardedBlock();
  GuardedBlock(const GuardedBlock&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  // A sentence about a byte beside the memory that somebody changed; nothing if all are as they were.
  std::optional<std::string> Break() const;

 private:
  std::string name_;
  uint64_t bytes_, mapped_;
  std::byte *map_, *data_;
};

// From now on a write to a page around a block is told as what it is (Doing::fault), before the process dies of it.
void TellFaultsInGuards();

}  // namespace backplane
