// The tensors of the host as places in memory that the learner's process sees: in the host's shared memory, or copied.
#pragma once

#include <cstdint>
#include <cstring>

#include "backplane/ext/shared.h"
#include "backplane/learner.h"
#include "python_env/workers.hpp"

namespace backplane::python_env {

class Arena {
 public:
  static constexpr uint64_t kHost = uint64_t{1}
                                    << 63;  // set in a place in the host's memory; worker/learner_arrays.py has it, too

  // Asks the host for shared memory. Call in `create`.
  explicit Arena(const bp_host* host);

  int host_memory() const { return fd_; }  // -1: the host has none
  void Use(Workers* workers) { workers_ = workers; }

  // A block for copies: call Reset with the bytes of all of them, then Place for each.
  struct Block {
    uint64_t at = 0, capacity = 0, used = 0;
  };
  static constexpr uint64_t Room(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
  // If `keep`, earlier copies stay valid until a later Reset without it.
  void Reset(Block* block, uint64_t bytes, bool keep = false);
  uint64_t Place(Block* block, uint64_t bytes);
  char* At(uint64_t place) const { return memory_ + place; }

  // The place of this address in the host's memory; BP_SHARED_NONE: it must be copied.
  uint64_t PlaceOfHost(const void* data) const;

 private:
  const bp_host* host_;
  const bp_host_shared_1* shared_;
  int fd_ = -1;
  Workers* workers_ = nullptr;
  char* memory_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace backplane::python_env
