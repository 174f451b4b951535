// The buffers of a learner that asked for shared memory (ext/shared.h): a file in memory, in which each buffer has a place of
// its own for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "plugin/host_services.hpp"

namespace backplane {

class LearnerMemory {
 public:
  LearnerMemory() = default;
  ~LearnerMemory();
  LearnerMemory(const LearnerMemory&) = delete;

  static const bp_host_shared_1* Api();

  // From now on, the learner cannot ask for it.
  void EndCreate() { creating_ = false; }
  // Whole pages, zeroed, until Unmap. NULL: use private memory. [control]
  std::byte* Map(uint64_t bytes);
  void Unmap(std::byte* data, uint64_t bytes) noexcept;

 private:
  static bp_status Open(const bp_host* host, int32_t* out_fd) noexcept;
  static uint64_t Place(const bp_host* host, const void* data) noexcept;

  struct Mapped {
    uint64_t place, bytes;
  };

  bool creating_ = true;
  int fd_ = -1;  // -1: the learner has not asked
  uint64_t size_ = 0;
  std::mutex mutex_;  // guards mapped_
  std::map<const std::byte*, Mapped> mapped_;
};

}  // namespace backplane
