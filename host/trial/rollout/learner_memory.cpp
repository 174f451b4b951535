#include "rollout/learner_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace backplane {
namespace {

uint64_t WholePages(uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

bool MayGrowTo(uint64_t size) {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || size <= most.rlim_cur;  // else a fatal signal
}

}  // namespace

LearnerMemory::~LearnerMemory() {
  if (fd_ >= 0) close(fd_);
}

const bp_host_shared_1* LearnerMemory::Api() {
  static constexpr bp_host_shared_1 api = {sizeof(bp_host_shared_1), 0, Open, Place};
  return &api;
}

// No process can cut the file: an access behind its end would be a fatal signal.
bp_status LearnerMemory::Open(const bp_host* host, int32_t* out_fd) noexcept {
  auto& self = *static_cast<LearnerMemory*>(HostServices::SharedImpl(host));
  if (!self.creating_)
    return host->fail(host, BP_E_INVALID_ARG, BP_HOST_SHARED_1 ": expected open in create, got a later call");
  if (self.fd_ < 0) {
    const int fd = memfd_create("learner", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
      const bp_status status = host->fail(host, BP_E_IO, std::strerror(errno));
      if (fd >= 0) close(fd);
      return status;
    }
    self.fd_ = fd;
  }
  *out_fd = self.fd_;
  return BP_OK;
}

uint64_t LearnerMemory::Place(const bp_host* host, const void* data) noexcept {
  auto& self = *static_cast<LearnerMemory*>(HostServices::SharedImpl(host));
  const auto* const at = static_cast<const std::byte*>(data);
  const std::lock_guard lock(self.mutex_);
  auto found = self.mapped_.upper_bound(at);
  if (found == self.mapped_.begin()) return BP_SHARED_NONE;
  --found;
  const auto offset = static_cast<uint64_t>(at - found->first);
  return offset < found->second.bytes ? found->second.place + offset : BP_SHARED_NONE;
}

// Reserves the pages now: an access to a page that the machine cannot provide would be a fatal signal.
std::byte* LearnerMemory::Map(uint64_t bytes) {
  const uint64_t size = WholePages(bytes > 0 ? bytes : 1);
  if (fd_ < 0 || !MayGrowTo(size_ + size)) return nullptr;
  int failed = EINTR;
  while (failed == EINTR) failed = fallocate(fd_, 0, static_cast<off_t>(size_), static_cast<off_t>(size)) == 0 ? 0 : errno;
  if (failed != 0) return nullptr;
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(size_));
  if (mapped == MAP_FAILED) return nullptr;
  const std::lock_guard lock(mutex_);
  mapped_[static_cast<std::byte*>(mapped)] = {size_, size};
  size_ += size;
  return static_cast<std::byte*>(mapped);
}

void LearnerMemory::Unmap(std::byte* data, uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = mapped_.find(data);
  if (found != mapped_.end()) {
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(found->second.place),
              static_cast<off_t>(found->second.bytes));
    mapped_.erase(found);
  }
  munmap(data, WholePages(bytes > 0 ? bytes : 1));
}

}  // namespace backplane
