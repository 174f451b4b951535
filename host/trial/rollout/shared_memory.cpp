#include "rollout/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rollout/failure.hpp"

namespace backplane {

SharedMemory::SharedMemory() : owner_(true), fd_(memfd_create("rollouts", MFD_CLOEXEC)) {
  if (fd_ < 0) Fail(errno);
}

SharedMemory::SharedMemory(int fd) : fd_(fd) {
  if (fd_ >= 0) fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

SharedMemory::~SharedMemory() {
  if (fd_ >= 0) close(fd_);
}

void SharedMemory::BeginBlock() {
  if (owner_) block_ = {block_.end, block_.end};
  at_ = block_.begin;
}

void SharedMemory::EndBlock() {
  CheckEnd(at_ == block_.end);
  if (owner_ && block_.begin > 0)
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(block_.begin));
}

std::byte* SharedMemory::Map(uint64_t bytes) {
  if (owner_ ? !failure_.empty() : block_.empty()) return nullptr;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = at_, size = (bytes + page - 1) / page * page;
  at_ += size;
  if (owner_ && !Grow(begin)) return nullptr;
  CheckEnd(at_ <= block_.end);
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(begin));
  return mapped == MAP_FAILED ? Fail(errno) : static_cast<std::byte*>(mapped);
}

void SharedMemory::CheckEnd(bool fits) const {
  if (!fits)
    throw TrialFailure(BP_E_INTERNAL, "",
                       fmt::format("rollout buffers in shared memory: expected {} bytes, got {}", block_.end - block_.begin,
                                   at_ - block_.begin));
}

// Reserves the pages now: an access to a page that the machine cannot provide would be a fatal signal.
bool SharedMemory::Grow(uint64_t from) {
  rlimit most{};
  int failed = getrlimit(RLIMIT_FSIZE, &most) == 0 && at_ > most.rlim_cur ? EFBIG : EINTR;  // else a fatal signal
  while (failed == EINTR) failed = fallocate(fd_, 0, static_cast<off_t>(from), static_cast<off_t>(at_ - from)) == 0 ? 0 : errno;
  block_.end = at_;
  return failed == 0 || Fail(failed) != nullptr;
}

// From then on, the owner uses private memory.
std::byte* SharedMemory::Fail(int error) {
  failure_ = fmt::format("shared memory of {} bytes: {}", block_.end - block_.begin, std::strerror(error));
  if (!owner_) throw TrialFailure(BP_E_OOM_HOST, "", "cannot map " + failure_);
  block_ = {};
  at_ = 0;
  return nullptr;
}

}  // namespace backplane
