// Memory for a plugin's writes between guards: an inaccessible page on each side, and bytes up to these pages that are checked
// for changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

class GuardedBlock {
 public:
  // `name` is used in messages: "channel 'obs'". The memory is aligned to 64 bytes and ends less than 64 bytes before the page
  // after it. Throws std::bad_alloc.
  GuardedBlock(std::string name, uint64_t bytes);
  ~GuardedBlock();
  GuardedBlock(const GuardedBlock&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  // A sentence about a changed byte outside the memory; absent if there is none.
  std::optional<std::string> Break() const;

 private:
  std::string name_;
  uint64_t bytes_, mapped_;
  std::byte *map_, *data_;
};

// From now on, a write to a page around a block is recorded (Doing::fault) before the process dies.
void TellFaultsInGuards();

}  // namespace backplane
