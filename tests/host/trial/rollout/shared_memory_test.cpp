// Rollout buffers in memory that several processes share: the place of each buffer, and the limits of a machine.
#include "rollout/shared_memory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

constexpr uint64_t kPage = 4096;

// Lowers a soft limit while it lives.
class Limit {
 public:
  Limit(int what, rlim_t most) : what_(what) {
    getrlimit(what_, &before_);
    const rlimit now{most, before_.rlim_max};
    setrlimit(what_, &now);
  }
  ~Limit() { setrlimit(what_, &before_); }
  Limit(const Limit&) = delete;

 private:
  const int what_;
  rlimit before_{};
};

uint64_t BytesHeld(const SharedMemory& memory) {
  struct stat state {};
  fstat(memory.fd(), &state);
  return static_cast<uint64_t>(state.st_blocks) * 512;
}

TEST(SharedMemory, MapsTheSameBuffersForEachProcess) {
  SharedMemory owner, other(fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0));
  owner.BeginBlock();
  std::byte *const first = owner.Map(100), *const second = owner.Map(2 * kPage + 1);
  owner.EndBlock();
  EXPECT_EQ(owner.block(), (SharedMemory::Block{0, 4 * kPage}));
  EXPECT_EQ(other.Map(100), nullptr) << "it has no block yet";
  other.Use(owner.block());
  other.BeginBlock();
  std::byte *const its_first = other.Map(100), *const its_second = other.Map(2 * kPage + 1);
  other.EndBlock();
  EXPECT_EQ(second[2 * kPage], std::byte{0});
  its_second[2 * kPage] = first[99] = std::byte{7};
  EXPECT_EQ(second[2 * kPage], std::byte{7});
  EXPECT_EQ(its_first[99], std::byte{7});
  for (std::byte* at : {first, its_first}) munmap(at, kPage);
  for (std::byte* at : {second, its_second}) munmap(at, 3 * kPage);
}

TEST(SharedMemory, KeepsOnlyTheLastBlock) {
  SharedMemory owner;
  for (int i = 1; i <= 3; ++i) {
    owner.BeginBlock();
    std::byte* const buffer = owner.Map(5 * kPage);
    std::memset(buffer, i, 5 * kPage);
    owner.EndBlock();
    EXPECT_EQ(BytesHeld(owner), 5 * kPage);
    EXPECT_EQ(buffer[0], static_cast<std::byte>(i));
    munmap(buffer, 5 * kPage);
  }
  owner.BeginBlock();
  owner.EndBlock();
  EXPECT_EQ(BytesHeld(owner), 0u);
  EXPECT_TRUE(owner.block().empty());
}

TEST(SharedMemory, RejectsBuffersThatTheOwnerDoesNotHave) {
  SharedMemory owner, other(fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0));
  owner.BeginBlock();
  munmap(owner.Map(kPage), kPage);
  owner.EndBlock();
  other.Use(owner.block());
  other.BeginBlock();
  EXPECT_THROW(other.EndBlock(), TrialFailure) << "one too few";
  munmap(other.Map(1), kPage);
  EXPECT_THROW(other.Map(1), TrialFailure) << "one too many";
}

TEST(SharedMemory, LeavesBuffersInPrivateMemoryAtALimit) {
  const auto failure = [](SharedMemory* owner) {
    owner->BeginBlock();
    std::byte* const small = owner->Map(kPage);
    EXPECT_EQ(owner->Map(64 * kPage), nullptr);
    if (small) munmap(small, kPage);
    EXPECT_EQ(owner->Map(1), nullptr) << "after a failure";
    owner->EndBlock();
    EXPECT_TRUE(owner->block().empty());
    return owner->failure();
  };
  SharedMemory grown;
  {
    const Limit of_files(RLIMIT_FSIZE, 8 * kPage);
    EXPECT_EQ(failure(&grown), "shared memory of 266240 bytes: File too large");
  }
  const Limit descriptors(RLIMIT_NOFILE, 0);
  SharedMemory without;
  EXPECT_EQ(without.fd(), -1);
  EXPECT_THAT(failure(&without), HasSubstr("Too many open files"));
}

}  // namespace
}  // namespace backplane
