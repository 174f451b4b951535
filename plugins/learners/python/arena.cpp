#include "arena.hpp"

#include <algorithm>

#include "backplane/errors.hpp"

namespace backplane::python_env {

Arena::Arena(const bp_host* host)
    : host_(host), shared_(static_cast<const bp_host_shared_1*>(host->get_extension(host, BP_HOST_SHARED_1))) {
  if (shared_ != nullptr && shared_->open(host, &fd_) != BP_OK) shared_ = nullptr, fd_ = -1;
}

void Arena::Reset(Block* block, uint64_t bytes, bool keep) {
  if (!keep) block->used = 0;
  if (block->used + bytes <= block->capacity) return;
  // A new block at the end, so that the places of the other blocks stay. The process may still read the old one.
  *block = {size_, std::max(bytes, 2 * block->capacity), 0};
  size_ += Room(block->capacity);
  memory_ = workers_->Share(size_);
}

uint64_t Arena::Place(Block* block, uint64_t bytes) {
  const uint64_t place = block->at + block->used;
  block->used += Room(bytes);
  return place;
}

uint64_t Arena::PlaceOfHost(const void* data) const {
  if (shared_ == nullptr) return BP_SHARED_NONE;
  const uint64_t place = shared_->place(host_, data);
  return place == BP_SHARED_NONE ? place : place | kHost;
}

}  // namespace backplane::python_env
